import type { ApprovalUIAdapter, PendingItem } from "../../core/approval.ts"

/** A person is asked by an adapter, or by cards of their own that answer in the queue. */
export type AskBy = Partial<ApprovalUIAdapter> | "queue"

/** Somebody who is asked at this process. */
export interface Asker {
  by: AskBy
  /** The person who answers, where the adapter does not say. */
  person?: string | (() => Promise<string>)
  /** Aborted when they are detached. */
  signal?: AbortSignal
}

/** The people who are asked at this process. Of several that can be asked the last attached is. */
export function askers() {
  const attached = new Set<Asker>()
  return {
    attach(by: AskBy, person?: Asker["person"]): () => void {
      const detached = new AbortController()
      const asker = { by, person, signal: detached.signal }
      attached.add(asker)
      return () => {
        attached.delete(asker)
        detached.abort({ sentence: "Nobody is asked here any more. It goes on waiting." })
      }
    },
    find: (kind: PendingItem["kind"]) => [...attached].findLast((asker) => asksAbout(asker, kind)),
  }
}

/** Reports whether this person can be asked about such an item. */
export function asksAbout({ by }: Asker, kind: PendingItem["kind"]): boolean {
  return by === "queue" || by[methods[kind]] !== undefined
}

const methods = {
  call: "showToolExecutionApproval",
  result: "showToolResultApproval",
  question: "showQuestion",
} as const
