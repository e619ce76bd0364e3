import { canonicalJson } from "../lib/canonical-json.ts"
import type { Reason, StoredReason } from "./audit-entry.ts"

/**
 * Whether the reason an approver saw is still the reason now: same check, source, code and params. Sentences are not
 * compared, so rewording one voids no approval. A stored reason without a code never matches.
 */
export function isSameReason(seen: StoredReason, now: Reason): boolean {
  if (seen.check !== now.check || seen.source !== now.source || seen.code !== now.code) return false
  return canonicalJson(seen.params ?? {}) === canonicalJson(now.params ?? {})
}

type OldReason = Omit<StoredReason, "check"> & { voice: string }

/** What checks were called when the reasons were stored, where they have another name now. */
const renamed: Readonly<Record<string, string>> = { spawner: "parent", wish: "confirmation" }

/** Reads stored reasons. Older rows call the field `check` by its former name `voice`. */
export function readStoredReasons(stored: readonly (StoredReason | OldReason)[]): StoredReason[] {
  return stored.map((reason) => {
    if (!("voice" in reason)) return reason
    const { voice, ...rest } = reason
    return { check: renamed[voice] ?? voice, ...rest }
  })
}
