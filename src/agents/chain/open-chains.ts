import { newId } from "../../lib/new-id.ts"
import type { Conversation, ConversationState, Turn } from "../../model/conversation.ts"
import type { LanguageModel } from "../models/port.ts"
import type { Models } from "../models/open-models.ts"
import { memoryLog, storedLog, type LogStore } from "./log.ts"
import { ToolChain, type ChainApp, type ToolChainOptions, type ToolChainResult } from "./tool-chain.ts"

export interface ChainOptions extends ToolChainOptions {
  /** The name of a configured model, or a model (default: the one of the agent's role, or `models.default`). */
  model?: string | LanguageModel | undefined
  /** Store the conversation, so that any process can resume it. */
  durable?: boolean | undefined
  /** The id of a stored conversation to go on with. */
  id?: string | undefined
}

/** Conversations in the store, of any process. */
export interface ConversationAdmin {
  list(filter?: {
    agentId?: string | undefined
    states?: readonly ConversationState[] | undefined
    cursor?: string | undefined
    limit?: number | undefined
  }): Promise<{ conversations: Conversation[]; cursor?: string }>
  get(id: string): Promise<Conversation | undefined>
  /** Its turns from an index on, oldest first. */
  turns(id: string, from?: number): Promise<Turn[]>
  /** Tells the model something, also while it works in another process. Returns false when there is no such conversation. */
  say(id: string, text: string, by: string): Promise<boolean>
  /** Ends the current run, also in another process. */
  stop(id: string, by: string): Promise<boolean>
}

/** What chains need of the app. */
export interface ChainParts extends LogStore {
  app: ChainApp
  models: Models
  roleOf(agentId: string): { rolePrompt?: string | undefined; llmServiceId?: string | null | undefined } | undefined
  closing: AbortSignal
  /** Writes a note about a conversation into the audit log. */
  note(conversationId: string, agentId: string, text: string): Promise<void>
}

/** How long people may take to answer the calls of a stored conversation, and so long it can be resumed. */
const resumableMs = 7 * 24 * 60 * 60 * 1000

/** Makes chains over the app, and gives access to their stored conversations. */
export function openChains(parts: ChainParts) {
  const { conversations } = parts
  let running = 0
  let onIdle: () => void = () => {}
  const admin: ConversationAdmin = {
    list: (filter) => conversations.list(filter),
    get: (id) => conversations.get(id),
    turns: (id, from) => conversations.turns(id, from),
    say: async (id, text, by) =>
      (await conversations.post(id, { kind: "user", body: { text, begins: false, by } })) !== undefined,
    stop: async (id, by) => (await conversations.post(id, { kind: "stop", body: { by } })) !== undefined,
  }
  return {
    conversations: admin,
    chain(agentId: string, given: ChainOptions = {}): ToolChain {
      const { model: chosen, durable, id = newId(), ...options } = given
      const role = parts.roleOf(agentId)
      const model = typeof chosen === "object" ? chosen : parts.models.get(chosen ?? role?.llmServiceId)
      const settings = { model: model.name }
      const startedBy = options.userId ?? agentId
      const isStored = durable === true || given.id !== undefined
      const log = isStored ? storedLog(parts, { id, agentId, startedBy, settings, resumableMs }) : memoryLog(id)
      const instructions = options.instructions ?? (role?.rolePrompt || undefined)
      return new ToolChain(parts.app, agentId, model, {
        log,
        ...options,
        instructions,
        closing: parts.closing,
        async onRunStart() {
          running++
          await parts.note(id, agentId, `A run of the conversation began, with model ${model.name}.`)
        },
        onRunEnd: (result) => parts.note(id, agentId, endNote(result)),
        onReleased() {
          if (--running === 0) onIdle()
        },
      })
    },
    /** Resolves when no run is in progress. They end when the app closes. */
    chainsIdle: () => (running === 0 ? Promise.resolve() : new Promise<void>((resolve) => (onIdle = resolve))),
  }
}

function endNote({ status, stats }: ToolChainResult): string {
  const { rounds, calls, inputTokens, outputTokens, cost } = stats
  const used = `${rounds} answers, ${calls} calls, ${inputTokens} tokens in, ${outputTokens} out, cost ${cost}`
  return `The run of the conversation ended: ${status}. In all it has used ${used}.`
}
