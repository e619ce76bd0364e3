import type { Events } from "../../core/events.ts"
import type { Approvals } from "../../approvals/queue/approvals.ts"
import type { Conversations } from "../../core/conversation.ts"
import type { Logger } from "../../core/logger.ts"
import type { AgentView, Message } from "../../core/organisation.ts"
import type { OrganisationAdmin } from "../../org/organisation-admin.ts"
import { followChanges, type Changes } from "../../store/change-feed.ts"
import type { Messages } from "../../store/port.ts"
import { isSocietyConversation, societyPrefix } from "../../core/society-conversation.ts"
import type { SocietyChain, ChainOptions } from "../chain/open-chains.ts"
import type { ToolChain } from "../chain/tool-chain.ts"
import { chooseModel } from "../models/choose-model.ts"
import type { Models } from "../models/open-models.ts"
import type { LanguageModel } from "../models/port.ts"
import { closeAgent } from "./close-agent.ts"
import type { MailParts } from "./mail.ts"
import { overviewOf, type AgentActivity } from "./overview.ts"
import { Runner, type SocietyOptions, type Work } from "./runner.ts"

/** Agents that work by themselves: a message wakes its recipient, whose model works until it has an answer. */
export interface Society {
  /**
   * Runs agents in this process until it is stopped or the app closes. Other processes on the same data may run some of
   * them too; each conversation is worked on by one.
   */
  start(options?: SocietyOptions): RunningSociety
  /** Sends a message of a person. */
  message(given: PersonMessage): Promise<Message>
  /** The answer to a message, as soon as there is one. Undefined when the signal aborts first. */
  answer(messageId: string, options?: { signal?: AbortSignal }): Promise<Message | undefined>
  /** Returns the number of unread messages for a conversation, and those it sent whose answers it has not read. */
  openMessages(conversationId: string): Promise<{ unread: number; sent: readonly Message[] }>
  /** Returns the activity, the waits and the usage of each live agent, whichever process runs it. */
  overview(): Promise<AgentActivity[]>
}

export interface RunningSociety {
  /** Resolves when nobody has anything to do that does not wait for a person. */
  idle(): Promise<void>
  /** Stops every run where it is. It goes on when a society is started again. */
  stop(): Promise<void>
}

export interface PersonMessage {
  /** The id of an agent, or `root`. */
  to: string
  /** A text, or any JSON. */
  payload: unknown
  /** The id of the person who writes. */
  by: string
  taskId?: string
  delayMs?: number
}

/** The parts of the app that the society needs. */
export interface SocietyParts extends MailParts {
  messages: Messages
  conversations: Conversations
  org: OrganisationAdmin
  owner: string
  isAlive(owner: string): boolean | Promise<boolean>
  app: Events & { approvals: Pick<Approvals, "list"> }
  models: Models
  openChain(agentId: string, options: ChainOptions, society: SocietyChain): ToolChain
  /** A chain that goes on with a conversation that somebody else began. */
  reopen(id: string, options: ChainOptions, society: SocietyChain): Promise<ToolChain | undefined>
  changes: Changes
  closing: AbortSignal
  logger: Logger
}

/** Creates the society. `organisationChanged` and `agentsEnded` are for the app, which knows when that happens. */
export function openSociety(parts: SocietyParts) {
  const { messages, org, app, now } = parts
  let runner: Runner | undefined
  const society: Society = {
    start(options) {
      if (runner !== undefined) throw new Error("The society runs already in this process. Stop it first.")
      // Without any model nobody could work; messages then wait in the inboxes for the host to read them.
      if (parts.models.list().length === 0) return { idle: () => Promise.resolve(), stop: () => Promise.resolve() }
      const started = (runner = new Runner(runnerParts(parts), options))
      void closeLeftovers(parts).catch((error: unknown) =>
        parts.logger.error("Ended agents could not be closed.", error),
      )
      return {
        idle: () => started.idle(),
        async stop() {
          await started.stop()
          if (runner === started) runner = undefined
        },
      }
    },
    message: ({ by, ...given }) => org.sendMessage({ ...given, from: "user", userId: by }),
    async answer(messageId, { signal } = {}) {
      const news = followChanges(parts.changes, signal)
      try {
        for (;;) {
          const found = await messages.answerTo(messageId)
          if (found !== undefined || signal?.aborted === true) return found
          await news.next()
        }
      } finally {
        news.stop()
      }
    },
    async openMessages(conversationId) {
      const at = now()
      const unread = await messages.unreadFor(conversationId, { at, limit: 100 })
      const sent = await messages.openFrom(conversationId)
      return { unread: unread.length, sent: sent.filter(({ deliverAt }) => deliverAt <= at) }
    },
    overview: () => overviewOf({ ...parts, approvals: app.approvals }),
  }
  return {
    society,
    organisationChanged: () => runner?.organisationChanged(),
    async agentsEnded(agentIds: readonly string[]) {
      if (runner === undefined) return
      runner.organisationChanged()
      const running = new Set(runner.running.map(({ agentId }) => agentId))
      for (const agentId of agentIds) if (!running.has(agentId)) await closeAgent(parts, agentId)
    },
  }
}

function runnerParts(parts: SocietyParts): ConstructorParameters<typeof Runner>[0] {
  const { messages, conversations, org, owner, isAlive, app, logger, now, closing } = parts
  return {
    messages,
    conversations,
    viewOf: (agentId) => org.view(agentId),
    isAlive,
    owner,
    approvals: app.approvals,
    on: app.on,
    logger,
    now,
    closing,
    close: (agentId) => closeAgent(parts, agentId),
    open: (work, view, options) => openRun(parts, work, view, options),
  }
}

/** The chain of an agent's next run. What it is told and may do follows from the conversation, whoever goes on with it. */
async function openRun(
  parts: SocietyParts,
  { conversationId, agentId, conversation, message }: Work,
  view: AgentView,
  { waitMs, pause }: { waitMs: number | undefined; pause: AbortSignal },
): Promise<ToolChain> {
  if (!isSocietyConversation(conversationId)) {
    const chain = await parts.reopen(conversationId, { waitMs }, { pause })
    if (chain !== undefined) return chain
  }
  const stored = conversation?.settings as { taskId?: string } | undefined
  const taskId = view.agent.taskId ?? stored?.taskId ?? message?.taskId
  const options = { id: conversationId, model: modelOf(parts.models, view), userId: message?.userId, waitMs }
  return parts.openChain(agentId, options, { pause, settings: { society: true, taskId } })
}

/** The model of the agent's role. Where there is none, one that says so, so that whoever wrote gets an answer. */
function modelOf(models: Models, { role }: AgentView): LanguageModel {
  try {
    return chooseModel(models, { role })
  } catch (error) {
    const name = role.llmServiceId ?? "none"
    return {
      name,
      provider: "none",
      modelId: name,
      stream: () => {
        throw error
      },
    }
  }
}

/** Ends the conversations of agents that ended while nobody ran the society. */
async function closeLeftovers(parts: SocietyParts): Promise<void> {
  const left = await parts.conversations.withPrefix(societyPrefix, ["active", "waiting", "idle"])
  const ended = new Set(left.map(({ agentId }) => agentId).filter((agentId) => parts.org.view(agentId) === undefined))
  for (const agentId of ended) await closeAgent(parts, agentId)
}
