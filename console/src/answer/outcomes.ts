import { useSyncExternalStore } from "react"
import type { AnswerBody, Answered, Problem } from "../../../src/interfaces/http/routes/schemas.ts"
import { post, problemOf } from "../api/http.ts"
import { queries } from "../api/live.ts"
import type { Subject } from "./guard.ts"

export type Answer = AnswerBody["answer"]

/** The outcome of an answer given here. Nothing is shown as done before the server reports it. */
export type Outcome =
  | { readonly state: "sending"; readonly answer: Answer }
  | { readonly state: "done"; readonly answer: Answer; readonly answered: Answered; readonly revision: number }
  /** It came too late: `problem.code` says whether the call changed, was answered or expired. */
  | { readonly state: "late"; readonly answer: Answer; readonly problem: Problem }
  | { readonly state: "failed"; readonly answer: Answer; readonly problem: Problem }

interface Kept {
  readonly outcome: Outcome | undefined
  /** The note stays while the card is shown, also when an answer came too late. */
  readonly note: string
}

const kept = new Map<string, Kept>()
const nothing: Kept = { outcome: undefined, note: "" }
const listeners = new Set<() => void>()

function keep(callId: string, change: Partial<Kept>) {
  kept.set(callId, { ...(kept.get(callId) ?? nothing), ...change })
  listeners.forEach((tell) => tell())
}
const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useKept = (callId: string): Kept => useSyncExternalStore(subscribe, () => kept.get(callId) ?? nothing)
export const writeNote = (callId: string, note: string) => keep(callId, { note })

/** Sends an answer to exactly the revision that was seen. */
export async function sendAnswer({ callId, revision }: Subject, answer: Answer): Promise<Outcome> {
  if (kept.get(callId)?.outcome?.state === "sending") return { state: "sending", answer }
  keep(callId, { outcome: { state: "sending", answer } })
  const outcome = await post<Answered>(`/v1/approvals/${encodeURIComponent(callId)}/answer`, { revision, answer }).then(
    (answered): Outcome => ({ state: "done", answer, answered, revision }),
    (error: unknown): Outcome => {
      const problem = problemOf(error)
      return { state: problem.status === 409 ? "late" : "failed", answer, problem }
    },
  )
  keep(callId, { outcome })
  void queries.invalidateQueries({ queryKey: ["approvals"] })
  void queries.invalidateQueries({ queryKey: ["me"] })
  return outcome
}
