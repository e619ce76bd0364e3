import { setTimeout as sleep } from "node:timers/promises"
import type { AuditEntry } from "../../../core/audit-entry.ts"
import { isVote } from "../../../core/vote-text.ts"
import type { Api } from "./endpoint.ts"

/** The outcome of an item that no longer waits. Ended: the call was over before anybody answered. */
export interface Gone {
  why: "answered" | "expired" | "ended" | "unknown"
  /** The person who was first, with their answer and its time. Undefined when the call ended without an answer. */
  by?: string
  did?: "approved" | "rejected" | "answered" | "edited" | "released" | "withheld"
  at?: number
}

/** The names of those who answered: where several people agreed, the log has all of their ids. */
export function namesOf({ org }: Pick<Api["app"], "org">, by: string): string {
  return by
    .split(", ")
    .map((id) => org.findPerson(id)?.name ?? id)
    .join(", ")
}

/** Finds why an item no longer waits: somebody answered it, or nobody did in time. */
export async function findOutcome(app: Api["app"], id: string): Promise<Gone> {
  const entries = await entriesOfAnswered(app, id)
  if (entries.length === 0) return { why: "unknown" }
  if (entries.some((entry) => entry.kind === "end" && entry.code === "approval_expired")) return { why: "expired" }
  const first = entries.findLast((entry) => "by" in entry && entry.by !== undefined && !isVote(entry))
  if (first === undefined || !("by" in first))
    return { why: entries.some(({ kind }) => kind === "end") ? "ended" : "answered" }
  return { why: "answered", by: first.by, did: didOf(first), at: first.at }
}

function didOf(entry: AuditEntry): Gone["did"] {
  if (entry.kind === "released" || entry.kind === "withheld") return entry.kind
  const word =
    "text" in entry ? /^(approved|rejected|answered|edited|released|withheld)\b/.exec(entry.text ?? "")?.[1] : undefined
  return word as Gone["did"]
}

/** The process that has the call records the answer, which may take a moment. */
async function entriesOfAnswered({ audit, settle }: Api["app"], id: string): Promise<AuditEntry[]> {
  for (let tries = 0; ; tries++) {
    await settle()
    const entries = await audit.show(id)
    const isRecorded = entries.some(({ kind }) => kind === "answered" || kind === "end")
    if (entries.length === 0 || isRecorded || tries === 10) return entries
    await sleep(50)
  }
}
