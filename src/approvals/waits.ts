import type { AuditEntry } from "../core/audit-entry.ts"
import { isVote } from "../core/vote-text.ts"

/** The part of an entry that measures waits: the console has entries as JSON. */
type Entry = Pick<AuditEntry, "kind" | "at"> & { text?: unknown }

/** One wait of a call for people. */
export interface Wait {
  /** `asked` is the wait before it ran, `held` the wait of its result. */
  for: "asked" | "held"
  ms: number
  /** False where the call ended before anybody answered. */
  isAnswered: boolean
}

export interface Waits {
  ended: readonly Wait[]
  /** Set while it waits. */
  open?: Wait["for"]
}

/** Measures how long a call waited for people, from each question to what came of it. */
export function waitsOf(entries: readonly Entry[]): Waits {
  const ended: Wait[] = []
  let open: { for: Wait["for"]; at: number } | undefined
  for (const entry of entries) {
    const { kind, at } = entry
    if (kind === "asked" || kind === "held") open ??= { for: kind, at }
    else if (open !== undefined && kind !== "note" && !isVote(entry)) {
      const isAnswered = kind === "answered" || kind === "released" || kind === "withheld"
      ended.push({ for: open.for, ms: Math.max(0, at - open.at), isAnswered })
      open = undefined
    }
  }
  return open === undefined ? { ended } : { ended, open: open.for }
}

/** Sums the waits of a call; undefined when nobody was asked. */
export function waitedMs(entries: readonly Entry[]): number | undefined {
  const { ended } = waitsOf(entries)
  return ended.length === 0 ? undefined : ended.reduce((sum, { ms }) => sum + ms, 0)
}
