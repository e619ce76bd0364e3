import type { Spent } from "../../core/conversation.ts"

/**
 * An event of an agent that works for a conversation, directly or through others. It has no texts: what was said is in
 * the agent's own conversation.
 */
export interface AgentEvent {
  /**
   * - `woken`: it began to work on a message or an answer.
   * - `calling`: it calls the tools in `tools`.
   * - `waiting`: its call `callId` waits for a person. Told only while it waits, and again when it changes meanwhile.
   * - `delegated`: it ended its turn, and answers when the agents that it asked have answered.
   * - `answered`: it ended its turn and has answered; with status `limit`, with what it had.
   * - `failed`: it could not finish, or was stopped; whoever asked was told so.
   */
  type: "woken" | "calling" | "waiting" | "delegated" | "answered" | "failed"
  agentId: string
  /** The agent's own conversation. */
  conversationId: string
  /** 1 for agents that the conversation's agent asked itself, 2 for those that these asked, and so on. */
  depth: number
  at: number
  /** For `calling` and `waiting`. */
  tools?: readonly string[]
  /** For `waiting`. */
  callId?: string
  /** For `answered` and `failed`: how its run ended. */
  status?: string
  /** The usage of the agent's conversation by now. */
  spent: Spent
}
