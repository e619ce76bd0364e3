import { moneyText } from "../../lib/money-text.ts"
import { counted } from "../../lib/counted.ts"
import { setMaxListeners } from "node:events"
import { newId } from "../../lib/new-id.ts"
import { contextStatus, type ContextStatus, type ConversationContexts } from "../../tools/context/context.ts"
import type { ResultImage } from "../../core/result-image.ts"
import type { AgentEvent } from "./agent-event.ts"
import type {
  Conversation,
  ConversationFilter,
  Conversations,
  DaySpending,
  ListedConversation,
  OpenCall,
  Spent,
  Turn,
} from "../../core/conversation.ts"
import type { QuartermasterEvent } from "../../core/events.ts"
import type { LanguageModel } from "../models/port.ts"
import { chooseModel } from "../models/choose-model.ts"
import type { Models } from "../models/open-models.ts"
import { agentEvents } from "./agent-events.ts"
import { extendedBudget, type Budget } from "./budget.ts"
import type { ToolChainResult } from "./chain-result.ts"
import { dayBudget } from "./day-budget.ts"
import type { ChainMail } from "./mail.ts"
import { goOnWith, rememberedOf, settingsOf, treeBudget } from "./remembered.ts"
import { chainTurns, unnamedPerson, withoutTakenBack, type ChainTurn, type UserTurn } from "../context/turns.ts"
import { countTokens, defaultContextTokens } from "../context/tokens.ts"
import { messagesOf } from "../context/messages.ts"
import { outlineOf } from "../context/outline.ts"
import { AnswerCollector, type AnswersInProgress } from "./answers-in-progress.ts"
import { placeKey } from "./call-context.ts"
import { attachFile, type Attached, type AttachedFile } from "./attach-file.ts"
import { changedFiles, type ChangedFile } from "./changed-files.ts"
import { branchAt } from "./branch.ts"
import { offeredTools } from "./chain.ts"
import { takeBack } from "./take-back.ts"
import { memoryLog, storedLog, type LogStore } from "./log.ts"
import type { ToolChainOptions } from "./chain-options.ts"
import type { ChainApp } from "./active-chain.ts"
import { ToolChain } from "./tool-chain.ts"

export interface ChainOptions extends ToolChainOptions {
  /** The name of a configured model, or a model (default: the one of the agent's role, or `models.default`). */
  model?: string | LanguageModel
  /** Store the conversation, so that any process can resume it. */
  durable?: boolean
  /** The id of a stored conversation to go on with. Options that are left out are those it had before. */
  id?: string
  /**
   * True if answers of agents that it asked begin a run of their own where agents work by themselves, and unfinished
   * work goes on there (default true, for stored conversations with a configured model).
   */
  wakes?: boolean
  /** The stored conversation whose agent begins this one: both count against the budget of the first. */
  parent?: string
}

/** Conversations in the store, of any process. */
export interface ConversationAdmin {
  /** The configured limits of a run that is given none of its own. */
  readonly limits: Pick<ChainSettings, "maxRounds" | "maxCalls">
  /** Those that changed last first, with where they stand. */
  list(filter?: ConversationFilter): Promise<{ conversations: ListedConversation[]; cursor?: string }>
  get(id: string): Promise<Conversation | undefined>
  /** Its turns from an index on and before another one, oldest first. */
  turns(id: string, from?: number, before?: number): Promise<Turn[]>
  /** The stored calls that the answer at this turn asked for, by their place in it. */
  callsOfAnswer(
    conversation: Pick<Conversation, "id" | "agentId">,
    turn: number,
    count: number,
  ): Promise<readonly (OpenCall | undefined)[]>
  /** The answers that models write in this process, as far as they have come. */
  readonly answers: AnswersInProgress
  /** Reports whether another process works on it. */
  runsElsewhere(conversation: Pick<Conversation, "owner">): Promise<boolean>
  /** The model that reads the next message. */
  modelOf(conversation: Pick<Conversation, "id" | "agentId" | "settings">): LanguageModel
  /** Returns the fill level of the context of its model. */
  contextOf(conversation: Conversation): Promise<ContextStatus>
  /** Returns the cost of the models of each agent since then, in all its conversations. */
  costSince(at: number): Promise<readonly { agentId: string; cost: number }[]>
  /** Returns the usage in the tree below a conversation, by itself and by others. */
  spentInTree(id: string): Promise<Spent>
  /** Returns its budget together with those below it, with people's additions. */
  budgetOf(conversation: Conversation): Promise<Budget>
  /** Its turns from an index on, and then each new one as it comes, until the signal aborts. Runs in any process. */
  follow(id: string, options?: { from?: number; signal?: AbortSignal }): AsyncIterable<Turn>
  /** Returns the events of the agents that it gave work to, directly or not, after the cursor of a former answer. */
  agentEvents(id: string, cursor?: string): Promise<{ events: AgentEvent[]; cursor: string }>
  /**
   * A chain that goes on with a stored conversation, with its model and options as long as no others are given. Undefined
   * when there is no such conversation.
   */
  open(id: string, options?: ChainOptions): Promise<ToolChain | undefined>
  /** Tells the model something, also while it works in another process. Returns false when there is no such conversation. */
  say(id: string, text: string, by: string): Promise<boolean>
  /**
   * Says something: a run that works reads it, in whatever process; otherwise the conversation goes on here, in the
   * background. Resolves when it is stored, with its turn; undefined when there is no such conversation, or it has ended or
   * is paused.
   */
  tell(id: string, text: string, options: Told): Promise<{ index: number; begins: boolean } | undefined>
  /** Takes back what was said while a run worked, unless the model has read it. */
  takeBack(id: string, index: number, by: string): Promise<"taken" | "read" | "unknown">
  rename(id: string, title: string): Promise<Conversation | undefined>
  /** Lets the next message go to another configured model. */
  useModel(id: string, model: string): Promise<Conversation | undefined>
  /** Puts a file into the workspace by a call of its agent, for a person. */
  attach(
    conversation: Pick<Conversation, "id" | "agentId">,
    file: AttachedFile,
    userId: string | undefined,
  ): Promise<Attached>
  /** The files that its calls changed, with their difference against the start. */
  changedFiles(conversation: Pick<Conversation, "id" | "agentId">): Promise<ChangedFile[]>
  /** A new conversation that goes another way from one of its messages on. */
  branch(id: string, options: { index?: number; by: string }): ReturnType<typeof branchAt>
  /** Deletes a conversation that no run works on. What it did stays in the audit log. Returns whether it did. */
  erase(id: string): Promise<boolean>
  /** Ends the current run, also in another process. */
  stop(id: string, by: string): Promise<boolean>
}

/** The speaker of a text that is said, and its images. */
export interface Told {
  by: string
  userId?: string
  images?: readonly ResultImage[]
}

/** The parts of the app that chains need. */
export interface ChainParts extends LogStore {
  app: ChainApp
  models: Models
  roleOf(agentId: string): { rolePrompt?: string; llmServiceId?: string | null } | undefined
  closing: AbortSignal
  contexts: ConversationContexts
  settings: ChainSettings
  daySpending: DaySpending
  /** The agents above an agent, nearest first. */
  ancestorsOf(agentId: string): readonly string[]
  /** Writes a note about a conversation into the audit log. */
  note(conversationId: string, agentId: string, text: string): Promise<void>
  emit(event: QuartermasterEvent): void
  /** Returns the options of a resumed conversation of the society, whoever resumes it. Undefined for any other one. */
  societyOptions?: (conversation: Conversation) => ToolChainOptions | undefined
  /** The messages of a stored conversation. */
  mailOf?: (conversationId: string, agentId: string) => ChainMail
}

/** The society's additions to the options of a chain that everybody has. */
export interface SocietyChain {
  /** Aborted to stop the run where it is, to go on later. */
  pause?: AbortSignal
  settings?: Readonly<Record<string, unknown>>
}

/** The configuration of all chains. */
export interface ChainSettings {
  maxRounds: number
  maxCalls: number
  /** Milliseconds for people to answer the calls of a stored conversation, and for which it can be resumed. */
  resumableMs: number
  /** The budgets of a conversation with those that it began, and of one agent in one of them. */
  budget: Budget
  perAgent: Budget
  /** The budget of one agent for a day, over all its conversations. */
  budgetPerDay?: Omit<Budget, "maxCalls">
}

/** Makes chains over the app, and gives access to their stored conversations. */
export function openChains(parts: ChainParts) {
  const { conversations } = parts
  const answers = new AnswerCollector()
  // Every run listens to it.
  setMaxListeners(0, parts.closing)
  let running = 0
  let onIdle: () => void = () => {}
  const admin: ConversationAdmin = {
    limits: { maxRounds: parts.settings.maxRounds, maxCalls: parts.settings.maxCalls },
    list: (filter) => conversations.list(filter),
    get: (id) => conversations.get(id),
    turns: (id, from, before) => conversations.turns(id, from, before),
    async callsOfAnswer(conversation, turn, count) {
      const keys = Array.from({ length: count }, (_, place) => `${conversation.id}/${placeKey(turn, place)}`)
      const found = new Map((await conversations.callsWith(conversation, keys)).map((call) => [call.key, call]))
      return keys.map((key) => found.get(key))
    },
    answers,
    runsElsewhere: async ({ owner }) => owner !== "" && owner !== parts.owner && (await parts.isAlive(owner)),
    modelOf,
    contextOf,
    spentInTree: (id) => conversations.spentInTree(id),
    costSince: (at) => conversations.costSince(at),
    budgetOf: async (conversation) =>
      extendedBudget(
        { ...parts.settings.budget, ...treeBudget(rememberedOf(conversation).options) },
        await turnsOf(conversation.id),
      ),
    takeBack: (id, index, by) => takeBack(conversations, id, index, by),
    rename: (id, title) => conversations.revise(id, () => ({ title })),
    useModel: (id, model) =>
      conversations.revise(id, ({ settings }) => ({ settings: { ...Object(settings), model } as object })),
    attach: (conversation, file, userId) => attachFile(parts.app, conversation, file, userId),
    changedFiles: async ({ id, agentId }) => changedFiles(parts.app, agentId, await turnsOf(id)),
    branch: (id, options) => branchAt(conversations, id, options),
    erase: (id) => conversations.eraseOne(id, ["idle", "paused", "ended"]),
    follow: (id, options) => follow(conversations, id, options),
    agentEvents: (id, cursor) => agentEvents(conversations, id, cursor),
    open: (id, options) => reopen(id, options),
    say: async (id, text, by) =>
      (await conversations.post(id, { kind: "user", body: { text, begins: false, by } })) !== undefined,
    tell,
    stop: async (id, by) => (await conversations.post(id, { kind: "stop", body: { by } })) !== undefined,
  }
  return {
    conversations: admin,
    chain: (agentId: string, given?: ChainOptions): ToolChain => openChain(agentId, given),
    openChain,
    reopen,
    /** Resolves when no run is in progress. They end when the app closes. */
    chainsIdle: () => (running === 0 ? Promise.resolve() : new Promise<void>((resolve) => (onIdle = resolve))),
  }

  function modelOf({ id, agentId, settings }: Pick<Conversation, "id" | "agentId" | "settings">): LanguageModel {
    return chooseModel(parts.models, { before: rememberedOf({ id, settings }).model, role: parts.roleOf(agentId) })
  }

  async function turnsOf(id: string): Promise<ChainTurn[]> {
    return withoutTakenBack(chainTurns(await conversations.turns(id)))
  }

  async function contextOf(conversation: Conversation): Promise<ContextStatus> {
    const { id, agentId } = conversation
    const running = parts.contexts.get(id)
    if (running !== undefined) return running.status()
    const { options } = rememberedOf(conversation)
    const { instructions = parts.roleOf(agentId)?.rolePrompt || undefined } = options
    const turns = await turnsOf(id)
    const tools = offeredTools(parts.app, agentId, options.tools && new Set(options.tools))
    const max = modelOf(conversation).contextTokens ?? defaultContextTokens
    return contextStatus(countTokens(turns, { messages: messagesOf(turns, instructions), tools }), max)
  }

  async function tell(id: string, text: string, { by, userId, images = [] }: Told) {
    // A person resumes what is paused first.
    if ((await conversations.get(id))?.state === "paused") return undefined
    const chain = await reopen(id, { userId, wakes: true })
    let begins = false
    const length = await conversations.post(id, (state) => {
      begins = state === "idle"
      const body: UserTurn = {
        text,
        begins,
        by: begins ? (userId ?? unnamedPerson) : by,
        ...(images.length > 0 && { images }),
      }
      const turn = { kind: "user", body } as const
      return begins ? { turn, state: "active", root: "", ...outlineOf([turn], true) } : { turn, state }
    })
    if (chain === undefined || length === undefined) return undefined
    // Errors of the run are in its turns and the audit log.
    if (begins || (await isLeft(id))) chain.resume().catch(() => {})
    return { index: length - 1, begins }
  }

  /** Reports whether a conversation is in the middle of a run, and no live process works on it. */
  async function isLeft(id: string): Promise<boolean> {
    const { state, owner = "" } = (await conversations.get(id)) ?? {}
    if ((state !== "active" && state !== "waiting") || parts.claimedHere.has(id)) return false
    return owner === "" || !(await parts.isAlive(owner))
  }

  async function reopen(id: string, given: ChainOptions = {}, society?: SocietyChain): Promise<ToolChain | undefined> {
    const found = await conversations.get(id)
    if (found === undefined) return undefined
    return openChain(found.agentId, { ...given, id }, society)
  }

  function isConfigured(model: string): boolean {
    return parts.models.list().some(({ name }) => name === model)
  }

  function openChain(agentId: string, given: ChainOptions = {}, society: SocietyChain = {}): ToolChain {
    const { model: chosen, durable, id = newId(), parent, wakes, ...options } = given
    const { resumableMs, maxRounds, maxCalls, budget, perAgent, budgetPerDay } = parts.settings
    const role = parts.roleOf(agentId)
    const requireAgent = () => {
      if (role === undefined) throw new Error(`There is no agent '${agentId}'. 'qm agents list' shows them.`)
    }
    if (given.id === undefined) requireAgent()
    const choose = (before?: string) => chooseModel(parts.models, { chosen, before, role })
    const mayRemember = given.id !== undefined && chosen === undefined
    let model = mayRemember ? undefined : choose()
    let current: ToolChainOptions = options
    const isStored = durable === true || given.id !== undefined || parent !== undefined
    const settingsNow = (wakesNow: boolean) =>
      society.settings ?? settingsOf(current, wakesNow && model !== undefined && isConfigured(model.name))
    const stored = () =>
      storedLog(parts, {
        id,
        agentId,
        startedBy: options.userId ?? agentId,
        resumableMs,
        parent,
        yields: society.pause !== undefined,
        beginsWithMail: society.settings !== undefined,
        // The model of the last run, for those who resume it.
        settings() {
          requireAgent()
          model ??= choose()
          return { model: model.name, ...settingsNow(wakes ?? true) }
        },
        goOn(found) {
          const known = rememberedOf(found)
          model = choose(known.model)
          current = goOnWith({ ...known.options, ...parts.societyOptions?.(found) }, options)
          const settings = settingsNow(wakes ?? known.wakes ?? true)
          return chosen === undefined ? settings : { model: model.name, ...settings }
        },
      })
    const log = isStored ? stored() : memoryLog(id, agentId)
    let spentBefore = log.spent
    let started: Promise<void> | undefined
    return new ToolChain(parts.app, agentId, model, options, {
      log,
      defaults: {
        instructions: role?.rolePrompt || undefined,
        maxRounds,
        maxCalls,
        maxTokens: budget.maxTokens,
        maxCost: budget.maxCost,
        maxTreeCalls: budget.maxCalls,
        perAgent,
      },
      onClaimed: isStored ? () => ({ model, options: current }) : undefined,
      closing: society.pause === undefined ? parts.closing : AbortSignal.any([parts.closing, society.pause]),
      mail: isStored ? parts.mailOf?.(id, agentId) : undefined,
      day: budgetPerDay && dayBudget(budgetPerDay, parts.daySpending, () => [agentId, ...parts.ancestorsOf(agentId)]),
      answers,
      contexts: parts.contexts,
      onRunStart() {
        running++
        spentBefore = { ...log.spent }
      },
      onRunBegun() {
        const { name = "", modelId = "" } = model ?? {}
        const at = Date.now()
        parts.emit({ type: "RUN_STARTED", conversationId: id, agentId, model: name, modelId, root: log.root.id, at })
        // Written with the next entry, and before the run is over.
        started = parts.note(id, agentId, `A run of the conversation began, with model ${name}.`)
        started.catch(() => {})
      },
      async onRunEnd(result) {
        const { status, stats } = result
        const { name = "", modelId = "" } = model ?? {}
        await started
        if (status !== "waiting") await parts.note(id, agentId, endNote(result))
        parts.emit({
          type: "RUN_ENDED",
          conversationId: id,
          agentId,
          model: name,
          modelId,
          root: log.root.id,
          at: Date.now(),
          status,
          used: minus(stats, spentBefore),
          durationMs: stats.durationMs,
        })
      },
      onReleased() {
        if (--running === 0) onIdle()
      },
    })
  }
}

async function* follow(
  conversations: Conversations,
  id: string,
  { from = 0, signal }: { from?: number; signal?: AbortSignal } = {},
): AsyncIterable<Turn> {
  let next = from
  for (;;) {
    if (signal?.aborted === true) return
    const turns = await conversations.turns(id, next)
    yield* turns
    next += turns.length
    if (turns.length > 0) continue
    if ((await conversations.get(id)) === undefined) return
    await conversations.waitForTurns(id, next, 1000, [signal])
  }
}

function minus(spent: Spent, before: Spent): Spent {
  return {
    rounds: spent.rounds - before.rounds,
    calls: spent.calls - before.calls,
    inputTokens: spent.inputTokens - before.inputTokens,
    outputTokens: spent.outputTokens - before.outputTokens,
    cost: spent.cost - before.cost,
  }
}

function endNote({ status, stats }: ToolChainResult): string {
  const { rounds, calls, inputTokens, outputTokens, cost } = stats
  const used = `${counted(rounds, "answer")}, ${counted(calls, "call")}, ${inputTokens} tokens in, ${outputTokens} out, cost ${moneyText(cost)}`
  return `The run of the conversation ended: ${status}. In all it has used ${used}.`
}
