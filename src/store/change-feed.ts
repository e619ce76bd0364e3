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

/** A feed of store changes, whichever process made them. Nothing is written for it. A cursor is an opaque text. */
export interface Changes {
  /** The newest place. */
  latest(): Promise<string>
  /** The changes after `cursor`, oldest first, and the place after them. Undefined for a cursor that is too old or invalid. */
  since(cursor: string): Promise<{ changes: Change[]; cursor: string } | undefined>
  /** Calls the listener soon after anything was stored, until the returned function is called. It may call once too often. */
  listen(listener: () => void): () => void
}

/** Waits for changes, one after the other. A change that comes between two waits ends the second at once. */
export interface Follower {
  /** Resolves when anything was stored since it resolved last, when the signal aborts, or after `milliseconds`. */
  next(milliseconds?: number): Promise<void>
  /** Ends the wait for another reason. */
  wake(): void
  stop(): void
}

/** Follows the changes until `stop` is called. */
export function followChanges({ listen }: Pick<Changes, "listen">, signal?: AbortSignal): Follower {
  let hasNews = false
  let resume: () => void = () => {}
  const wake = () => {
    hasNews = true
    resume()
  }
  const stopListening = listen(wake)
  signal?.addEventListener("abort", wake)
  return {
    wake,
    async next(milliseconds) {
      const timer = milliseconds === undefined ? undefined : setTimeout(wake, milliseconds)
      if (!hasNews && signal?.aborted !== true) await new Promise<void>((resolve) => (resume = resolve))
      clearTimeout(timer)
      hasNews = false
    },
    stop() {
      stopListening()
      signal?.removeEventListener("abort", wake)
    },
  }
}
