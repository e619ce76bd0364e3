/** Something that was stored. It says where to look, not what is there. */
export type Change =
  | { type: "call"; callId: string; state: string; agentId: string; tool: string; sessionId: string }
  | { type: "document"; kind: string; id: string }
  | { type: "message"; id: string; to: string }
  /** The kind is `erased` when the conversation was erased. */
  | { type: "turn"; conversationId: string; index: number; kind: string; agentId: string; startedBy: string }
  /** It changed in another way than by a turn: its title, its state, its settings or its process. */
  | { type: "conversation"; conversationId: string; agentId: string; startedBy: string }
  | { type: "audit"; callId: string; agentId: string; tool: string; ending: string }

/** What was stored since a place, by whichever process. Nothing is written for it. */
export interface Changes {
  /** The newest place. */
  latest(): string
  /** What came after `cursor`, oldest first, and the place after it. Undefined when the cursor is too old or is none. */
  since(cursor: string): { changes: Change[]; cursor: string } | undefined
  /** Calls the listener soon after anything was stored, until the returned function is called. */
  listen(listener: () => void): () => void
}
