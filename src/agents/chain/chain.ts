import type { Calls } from "../../call/state/calls.ts"
import type { AgentTools } from "../../registry/agent-tools.ts"
import type { McpToolDefinition } from "../../core/mcp.ts"
import type { NewTurn, Spent } from "../../core/conversation.ts"
import type { Ticket } from "../../core/result.ts"
import { errorMessage } from "../../lib/error-message.ts"
import { anyOf, type Stop } from "../../lib/stop.ts"
import { makeRoom, needsRoom, type Shortenable } from "../context/make-room.ts"
import { ModelError } from "../models/model-error.ts"
import type { LanguageModel, ModelMessage, ModelPart, ModelTool, ModelTurn } from "../models/port.ts"
import { runTurn } from "../models/run-turn.ts"
import { checkBudgets, type Budgets } from "./budget.ts"
import type { DayBudget } from "./day-budget.ts"
import type { Reading, TurnLog } from "./log.ts"
import { endRun, receiveMail, type ChainMail } from "./mail.ts"
import { messagesOf } from "../context/messages.ts"
import { reflectOn } from "./reflect.ts"
import type { Reflector } from "../reflection/reflector.ts"
import { callsIn, nextStep, type NextStep, type RunLimits } from "./next-step.ts"
import type { CallContext } from "./call-context.ts"
import { runCalls } from "./run-calls.ts"
import type { RunTime } from "./run-time.ts"
import { unfinished, WrittenText } from "./written-text.ts"
import { hintsBy, type AssistantTurn, type ChainStatus } from "../context/turns.ts"

/** Everything a run of a chain needs. */
export interface ActiveChain {
  log: TurnLog
  model: LanguageModel
  app: Pick<AgentTools, "visibleTool"> & Pick<Calls, "endCalls">
  reflector: Reflector
  instructions: string | undefined
  limits: RunLimits
  budgets: Budgets
  day?: DayBudget
  /** The time that the run may take. */
  time: RunTime
  calls: CallContext
  /** The tools that the model is offered now. */
  tools(): readonly ModelTool[]
  spent: Spent
  signal: AbortSignal | Stop
  /** Aborted when the app closes: the run stops where it is, and can be resumed from its turns. */
  closing: AbortSignal
  hooks: ChainHooks
  mail?: ChainMail
}

/** The callbacks at a run's turning points. Each may be async; the run waits for those that change what happens. */
export interface ChainHooks {
  /** Sees the messages before they are sent, and may return others. */
  beforeRequest?(
    messages: readonly ModelMessage[],
  ): readonly ModelMessage[] | undefined | Promise<readonly ModelMessage[] | undefined>
  /** The model is asked. */
  onRequest?(reading: Reading): void
  /** Its answer is stored, or there is none. */
  onAnswered?(): void
  /** Receives every part of an answer as it comes, and its text so far. */
  onPart?(part: ModelPart, text: string): void
  /** The request is made again after this time: what came of the answer so far does not count. */
  onRetry?(error: Error, waitMs: number): void
  onTurn?(turn: ModelTurn): void
  onError?(error: unknown, phase: ChainPhase): void
}

/** The origin of an error: the model, a tool, the store, a reflector, or a callback of the program itself. */
export type ChainPhase = "model" | "tool" | "store" | "reflection" | "callback"

export type ChainEnd = { status: ChainStatus; error?: string } | { status: "waiting"; tickets: readonly Ticket[] }

/**
 * Runs a conversation until the model has answered or a limit is reached: model in, tool calls out, results back. Whatever
 * happened is in the turns before the next thing begins, so a killed run goes on from them.
 */
export async function runChain(chain: ActiveChain): Promise<ChainEnd> {
  for (;;) {
    if (chain.closing.aborted) return { status: "waiting", tickets: [] }
    if (chain.log.isStored) await chain.log.refresh()
    const step = nextStep(chain.log.turns, chain.limits)
    if (chain.mail !== undefined && (await receiveMail(chain.mail, chain.log, step))) continue
    if (step.kind === "nothing") return { status: "completed" }
    if (step.kind === "done") {
      const ended = { status: step.status, error: step.error }
      // Messages that arrive now are handled before the run ends.
      const length = step.status === "completed" ? chain.log.turns.length : undefined
      if (await finish(chain, ended, length)) return ended
      continue
    }
    if (step.kind === "hint") await chain.log.append([hint])
    else if (step.kind === "reflect") {
      const stopped = await reflect(chain)
      if (stopped !== undefined && !chain.closing.aborted) return end(chain, stopped)
    } else if (step.kind === "ask") {
      const usedUp = await chain.day?.usedUp()
      if (usedUp !== undefined) return end(chain, { status: "limit", error: usedUp })
      const budget = await checkBudgets(chain.budgets, chain.log, chain.calls)
      const stop = budget ?? (chain.mail && (await chain.mail.checkHops(chain.log, chain.calls)))
      if (stop !== undefined && "waiting" in stop) {
        await chain.log.append([], { state: "waiting" })
        return { status: "waiting", tickets: [stop.waiting] }
      }
      if (stop !== undefined) return end(chain, { status: "limit", error: stop.usedUp })
      const failed = await ask(chain, step.last)
      if (failed !== undefined && !chain.closing.aborted) return end(chain, failed)
    } else {
      const tickets = await makeCalls(chain, step)
      if (tickets !== undefined) return { status: "waiting", tickets }
    }
  }
}

const hint: NewTurn = {
  kind: "user",
  body: {
    text: "You wrote a tool call as text, so nothing was executed. Make it as a real tool call, or answer without it.",
    begins: false,
    by: hintsBy,
  },
}

/** Asks the model once and stores its answer. Returns how the run ends if there is none. */
async function ask(
  chain: ActiveChain,
  last: false | "limit" | "complete",
): Promise<{ status: ChainStatus; error?: string } | undefined> {
  const { log, model, hooks } = chain
  const isOutOfTime = chain.time.isOver
  const isLast = last !== false || isOutOfTime
  const reading = await log.markRead()
  // Somebody said something at this moment: it is read first.
  if (reading === undefined) return undefined
  const { read } = reading
  const written = new WrittenText(hooks)
  hooks.onRequest?.(reading)
  try {
    const turn = await requestTurn(chain, read, isLast, isLast && last !== "complete" ? [lastRequest] : [], written)
    hooks.onTurn?.(turn)
    chain.spent.rounds++
    addUsage(chain, turn)
    const answer = asTurn(isLast ? withoutCalls(turn) : turn, model, read)
    const body: AssistantTurn = reading.interrupted ? { ...answer, interrupted: true } : answer
    await log.append([{ kind: "assistant", body }], { spent: chain.spent })
    return isOutOfTime ? { status: "limit", error: outOfTime } : undefined
  } catch (error) {
    if (chain.closing.aborted) return { status: "aborted" }
    if (chain.signal.aborted) {
      // Text that the person has read stays a part of the conversation.
      if (written.text.trim() !== "")
        await log.append([{ kind: "assistant", body: asTurn(unfinished(written.text), model, read) }])
      return { status: "aborted" }
    }
    hooks.onError?.(error, "model")
    return { status: "error", error: errorMessage(error) }
  } finally {
    hooks.onAnswered?.()
  }
}

const outOfTime = "The time of the run is over. Its option 'deadlineMs' gives it more."

const lastRequest: ModelMessage = {
  role: "user",
  content:
    "A limit of this run was reached, so no more tools can be called. Answer now with what you have, and say what is left to do.",
}

/** Limit of further shortenings of a request that the provider refuses as too long. */
const maxShortenings = 2

/** Makes a request that fits the context, and makes it again, shortened, when the provider refuses it as too long. */
async function requestTurn(
  chain: ActiveChain,
  read: number,
  isLast: boolean,
  added: readonly ModelMessage[],
  { onPart, onRetry }: WrittenText,
): Promise<ModelTurn> {
  const { log, model, instructions, hooks } = chain
  const tools = chain.tools()
  const conversation = shortenable(chain, tools)
  const onUnanswered = (used: Used) => addUsage(chain, used)
  for (let refused = 0; ; refused++) {
    let messages = messagesOf(log.turns, instructions)
    if (needsRoom(conversation, messages) || refused > 0) {
      await makeRoom(conversation, refused)
      // Messages that came meanwhile can still be taken back.
      const given = log.turns.filter(({ kind, index }) => kind !== "user" || index < read)
      messages = messagesOf(given, instructions)
    }
    messages.push(...added)
    const changed = await hooks.beforeRequest?.(messages)
    const request = { messages: changed ?? messages, tools, toolChoice: isLast ? "none" : "auto" } as const
    try {
      return await runTurn(model, request, { onPart, onRetry, onUnanswered, stops: [chain.signal, chain.closing] })
    } catch (error) {
      const isTooLong = error instanceof ModelError && error.code === "context_exceeded"
      if (!isTooLong || refused === maxShortenings) throw error
    }
  }
}

/** Decides how to go on after calls failed, and stores it: the next request follows from the turns. */
async function reflect(chain: ActiveChain): Promise<{ status: ChainStatus } | undefined> {
  const { app, log, calls, reflector, hooks } = chain
  const signal = anyOf(chain.signal, chain.closing)
  const offered = chain.tools().map(({ name }) => name)
  const about = { app, agentId: calls.request.agentId, turns: log.turns, offered, signal }
  const body = await reflectOn(about, reflector, (error) => hooks.onError?.(error, "reflection"))
  if (body === undefined) return { status: "aborted" }
  await log.append([{ kind: "reflection", body }])
  return undefined
}

/** The tools of an agent as its model is offered them. */
export function offeredTools(
  app: Pick<AgentTools, "mcpTools">,
  agentId: string,
  names: ReadonlySet<string> | undefined,
): readonly ModelTool[] {
  const all = asModelTools(app.mcpTools(agentId))
  return names === undefined ? all : all.filter(({ name }) => names.has(name))
}

const modelTools = new WeakMap<readonly McpToolDefinition[], readonly ModelTool[]>()

/** The same list for the same definitions, so that what is known of it, such as its tokens, stays known. */
function asModelTools(definitions: readonly McpToolDefinition[]): readonly ModelTool[] {
  const known = modelTools.get(definitions)
  if (known !== undefined) return known
  const tools = definitions.map(({ name, description = "", inputSchema }) => ({ name, description, inputSchema }))
  modelTools.set(definitions, tools)
  return tools
}

function shortenable(chain: ActiveChain, tools: readonly ModelTool[]): Shortenable {
  const { log, model, instructions, spent } = chain
  return {
    model,
    instructions,
    tools,
    signal: () => anyOf(chain.signal, chain.closing),
    turns: () => log.turns,
    append: (turns) => log.append(turns, { spent }),
    onSummary: (turn) => addUsage(chain, turn),
  }
}

/** An answer as a turn. `read` is how many turns the model had read. */
function asTurn(turn: ModelTurn, model: LanguageModel, read: number): AssistantTurn {
  const { content, text, calls, describedCall, finishReason, usage, cost } = turn
  return { content, text, calls, describedCall, finishReason, usage, cost, model: model.name, read }
}

/** The last answer of a run that reached a limit: calls that the model made all the same are left out. */
function withoutCalls(turn: ModelTurn): ModelTurn {
  return { ...turn, content: turn.content.filter(({ type }) => type !== "tool-call"), calls: [], describedCall: false }
}

type Used = Pick<ModelTurn, "usage" | "cost">

function addUsage({ spent, day }: ActiveChain, used: Used): void {
  spent.inputTokens += used.usage.inputTokens
  spent.outputTokens += used.usage.outputTokens
  spent.cost += used.cost ?? 0
  day?.add(used)
}

/** Makes the calls of the last answer and stores their results. Returns the tickets of calls that still wait. */
async function makeCalls(
  chain: ActiveChain,
  step: NextStep & { kind: "calls" },
): Promise<readonly Ticket[] | undefined> {
  const { log, calls: context, spent } = chain
  const allowed = chain.time.isOver || chain.signal.aborted ? 0 : step.allowed
  const why = chain.signal.aborted
    ? "The run was stopped."
    : "A limit of this run was reached. Answer with what you have, and say what is left to do."
  const ended = await runCalls({ turn: step.turn, calls: step.body.calls, allowed, turns: log.turns, why }, context)
  if ("waiting" in ended) {
    await log.append([], { state: "waiting" })
    return ended.waiting
  }
  spent.calls += callsIn(ended)
  await log.append([{ kind: "results", body: { results: ended.results } }], { spent, state: "active" })
  return undefined
}

async function end(chain: ActiveChain, ended: { status: ChainStatus; error?: string }): Promise<ChainEnd> {
  await answerOpenCalls(chain)
  await finish(chain, ended)
  return ended
}

/** Writes the end. With a length only right after that many turns: else it returns false. */
async function finish(
  { log, mail, spent }: ActiveChain,
  ended: { status: ChainStatus; error?: string },
  length?: number,
): Promise<boolean> {
  if (log.turns.at(-1)?.kind === "end") return true
  return endRun(mail, log, ended, { state: "idle", spent, ...(length === undefined ? {} : { length }) })
}

/** No call stays without an answer: providers refuse the next request otherwise. */
async function answerOpenCalls(chain: ActiveChain): Promise<void> {
  const step = nextStep(chain.log.turns, { ...chain.limits, maxCalls: 0 })
  if (step.kind === "calls") await makeCalls(chain, { ...step, allowed: 0 })
}
