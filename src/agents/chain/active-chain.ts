import { runLimits } from "../../config/run-limits.ts"
import type { Stop } from "../../lib/stop.ts"
import type { Calls } from "../../call/state/calls.ts"
import type { AgentTools } from "../../registry/agent-tools.ts"
import { errorOf } from "../../core/errors.ts"
import { withoutIntent } from "../../schema/intent-text.ts"
import type { EndingCode } from "../../core/result.ts"
import { asksIntent } from "../../schema/intent.ts"
import type { LanguageModel, ModelCall } from "../models/port.ts"
import { ruleReflector } from "../reflection/rules.ts"
import { attempt } from "./attempt.ts"
import { offeredTools, type ActiveChain, type ChainHooks, type ChainPhase } from "./chain.ts"
import type { InternalOptions, ToolChainOptions } from "./chain-options.ts"
import type { TurnLog } from "./log.ts"
import { toolsGivenUp } from "./reflect.ts"
import type { CallContext } from "./call-context.ts"
import { RunTime } from "./run-time.ts"
import { currentRun, personOf } from "../context/turns.ts"

/** The parts of the app that a chain needs. */
export type ChainApp = Pick<Calls, "call" | "callMany" | "resume" | "endCalls" | "storeText"> &
  Pick<AgentTools, "mcpTools" | "visibleTool">

/** The parts of a run. */
interface RunParts {
  app: ChainApp
  agentId: string
  model: LanguageModel
  options: ToolChainOptions
  internal: InternalOptions
  log: TurnLog
  /** The results of calls while others of the same answer still wait. */
  open: Pick<CallContext, "ended" | "held">
  signal: AbortSignal | Stop
  closing: AbortSignal
  report(error: unknown, phase: ChainPhase): void
}

/** Everything a run of a chain needs, from its options. */
export function activeChain(parts: RunParts): ActiveChain {
  const { app, agentId, model, options, log, signal, closing } = parts
  const { defaults = {}, mail, day } = parts.internal
  const time = new RunTime(Date.now() + (options.deadlineMs ?? 3_600_000))
  const names = options.tools && new Set(options.tools)
  const tools = () => {
    const offered = offeredTools(app, agentId, names)
    const givenUp = toolsGivenUp(log.turns)
    return givenUp.size === 0 ? offered : offered.filter(({ name }) => !givenUp.has(name))
  }
  const isOffered = (name: string) => tools().some((tool) => tool.name === name)
  return {
    log,
    model,
    app,
    instructions: options.instructions ?? defaults.instructions,
    limits: {
      maxRounds: options.maxRounds ?? defaults.maxRounds ?? runLimits.maxRounds,
      maxCalls: options.maxCalls ?? defaults.maxCalls ?? runLimits.maxCalls,
      reflects: options.reflect !== false,
    },
    reflector: typeof options.reflect === "object" ? options.reflect : ruleReflector,
    budgets: {
      tree: {
        maxTokens: options.maxTokens ?? defaults.maxTokens,
        maxCost: options.maxCost ?? defaults.maxCost,
        maxCalls: options.maxTreeCalls ?? defaults.maxTreeCalls,
      },
      agent: options.perAgent ?? defaults.perAgent ?? {},
    },
    day,
    time,
    tools,
    spent: log.spent,
    mail,
    signal,
    closing,
    calls: callContext(parts, time, isOffered),
    hooks: chainHooks(parts),
  }
}

function callContext(parts: RunParts, clock: RunTime, isOffered: CallContext["isOffered"]): CallContext {
  const { app, agentId, model, options, log, signal, closing } = parts
  const definitionOf = (name: string) => app.mcpTools(agentId).find((each) => each.name === name)
  const argsOf = ({ name, input }: ModelCall) => {
    const { input: rest } = withoutIntent(input)
    return rest !== input && asksIntent(definitionOf(name)?.inputSchema) ? rest : input
  }
  return {
    app,
    request: {
      agentId,
      sessionId: log.id,
      taskId: options.taskId,
      allowedPaths: options.allowedPaths,
      caller: options.approvals && { approvalUI: options.approvals },
      holdResult: options.checkToolResults,
      resumableUntil: log.resumableUntil,
      signal,
    },
    person: () => personOf(currentRun(log.turns)),
    independent: options.independent ?? false,
    durable: log.isStored,
    detach: closing,
    waitMs: options.waitMs,
    contextTokens: model.contextTokens,
    seesImages: model.seesImages,
    isOffered,
    clock,
    ended: parts.open.ended,
    held: parts.open.held,
    isRead: (name) => definitionOf(name)?.annotations?.["readOnlyHint"] === true,
    argsOf,
    onStart: (call) => tell(parts, () => options.onToolCallStart?.(call.name, argsOf(call), call.id)),
    onComplete: ({ id }, result) => {
      tell(parts, () => options.onToolCallComplete?.(result, id))
      if (unexpected.has(result.code)) parts.report(errorOf(result), "tool")
    },
    onRefused: (call, sentence) =>
      tell(parts, () => options.onToolCallRefused?.(call.name, argsOf(call), sentence, call.id)),
  }
}

/** Endings of calls that neither the model nor a person or rule is to blame for. */
const unexpected = new Set<EndingCode | undefined>(["tool_failed", "timeout", "output_invalid", "record_unavailable"])

function chainHooks(parts: RunParts): ChainHooks {
  const { agentId, options, log } = parts
  const answers = log.isStored ? parts.internal.answers : undefined
  return {
    beforeRequest: (messages) => options.onBeforeSendToLLM?.(messages),
    onRequest: ({ read, ...reading }) => answers?.begin({ conversationId: log.id, agentId, turn: read, ...reading }),
    onAnswered: () => answers?.end(log.id),
    onPart: (part, text) => {
      answers?.add(log.id, part)
      tell(parts, () => options.onLLMResponsePart?.(part))
      if (part.type === "text") tell(parts, () => options.onLLMResponseUpdate?.(text))
    },
    onRetry: (error, waitMs) => {
      answers?.again(log.id)
      tell(parts, () => options.onLLMRetry?.(error, waitMs))
    },
    onTurn: (turn) => tell(parts, () => options.onLLMResponseComplete?.(turn)),
    onError: parts.report,
  }
}

/** Calls a callback of the program. One that fails is reported, and the run goes on. */
function tell({ report }: RunParts, callback: () => unknown): void {
  attempt(callback, (error) => report(error, "callback"))
}
