import { canonicalJson } from "../lib/canonical-json.ts"

/** The durability level. *crash* survives `kill -9`; *power* is synced to disk and also survives a power cut. */
export type Durability = "crash" | "power"

/** Why a call was decided as it was. */
export interface Reason {
  /** The check that decided: group, role, department, level, permission, limit, rule, guard, person. */
  check: string
  /** The source: a tool id, a line of the configuration, a rule. */
  source: string
  /** The same for programs. It does not change when the sentence is reworded or translated. */
  code: string
  /** The values in the sentence: paths, hosts, levels. */
  params?: ReasonParams
  sentence: string
  /** For an ask that only a person can answer: allow rules and grants do not lift it. */
  binding?: boolean
  /** For a rule in shadow, which decides nothing: what it would have decided. */
  shadow?: "allow" | "ask" | "deny"
}

export type ReasonParams = Readonly<Record<string, string | number | readonly string[]>>

/** A stored reason. Older ones have no code. */
export type StoredReason = Omit<Reason, "code"> & { code?: string }

/** A sentence for people: a code and its values, by which a client translates it, and the English text. */
export interface Sentence {
  readonly code: string
  readonly params?: ReasonParams
  readonly text: string
}

/**
 * Reports whether the reason an approver saw is still the reason now: same check, source, code and params. Sentences
 * are not compared, so rewording one voids no approval. A stored reason without a code never matches.
 */
export function isSameReason(seen: StoredReason, now: Reason): boolean {
  if (seen.check !== now.check || seen.source !== now.source || seen.code !== now.code) return false
  return canonicalJson(seen.params ?? {}) === canonicalJson(now.params ?? {})
}

type OldReason = Omit<StoredReason, "check"> & { voice: string }

/** Former names of checks, as they stand in stored reasons. */
const renamed: Readonly<Record<string, string>> = { spawner: "parent", wish: "confirmation" }

/** Reads stored reasons. Older rows call the field `check` by its former name `voice`. */
export function readStoredReasons(stored: readonly (StoredReason | OldReason)[]): StoredReason[] {
  return stored.map((reason) => {
    if (!("voice" in reason)) return reason
    const { voice, ...rest } = reason
    return { check: renamed[voice] ?? voice, ...rest }
  })
}
