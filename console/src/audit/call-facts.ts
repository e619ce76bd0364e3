import type { AuditEntryJson } from "../../../src/interfaces/http/routes/audit-schemas.ts"
import type { EndEntry, StartEntry, StepEntry } from "../../../src/core/audit-entry.ts"
import type { StoredReason } from "../../../src/core/reason.ts"
import { waitsOf, type Wait, type Waits } from "../../../src/approvals/waits.ts"
import type { CallFacts } from "../steps/ticks.ts"

/** A summary of the entries of one call. */
export interface CallRecord {
  readonly tool: string
  readonly agentId: string
  readonly start: StartEntry | undefined
  readonly end: EndEntry | undefined
  readonly steps: readonly StepEntry[]
  readonly facts: CallFacts & { readonly edited: boolean }
  readonly reasons: readonly StoredReason[]
  /** Recorded as JSON text, masked and perhaps cut. */
  readonly input: string | undefined
  readonly result: string | undefined
  readonly isMasked: boolean
  /** The time it was made, and the duration of each part, in milliseconds. */
  readonly madeAt: number
  readonly decidedMs: number
  /** For an answer before it ran, and for the release of its result. */
  readonly waited: { readonly asked: number; readonly held: number }
  readonly ranMs: number
}

export function readRecord(entries: readonly AuditEntryJson[]): CallRecord | undefined {
  const [first] = entries
  if (first === undefined) return undefined
  const start = entries.find(({ kind }) => kind === "start") as StartEntry | undefined
  const end = entries.findLast(({ kind }) => kind === "end") as EndEntry | undefined
  const steps = entries.filter(({ kind }) => kind !== "start" && kind !== "end") as unknown as StepEntry[]
  const has = (kind: AuditEntryJson["kind"]) => steps.some((step) => step.kind === kind)
  const waits = waitsOf(entries)
  const asked = entries.find(({ kind }) => kind === "asked")
  const begun = asked?.at ?? start?.at ?? end?.startedAt ?? first.at
  const madeAt = Math.min(begun, timeOfId(first.callId) ?? begun)
  return {
    tool: end?.tool ?? start?.tool ?? first.tool ?? "",
    agentId: end?.agentId ?? start?.agentId ?? first.agentId ?? "",
    start,
    end,
    steps,
    facts: {
      state:
        end !== undefined ? "ended" : waits.open === "held" ? "held" : waits.open !== undefined ? "waiting" : "running",
      code: end?.code,
      asked: has("asked"),
      held: has("held"),
      ran: end?.ran,
      edited: steps.some(({ text }) => text === "edited the input"),
    },
    reasons: end?.reasons ?? start?.reasons ?? [],
    input: start?.input ?? end?.input,
    result: end?.result,
    isMasked: (start?.inputDigest ?? end?.inputDigest ?? end?.resultDigest) !== undefined,
    madeAt,
    decidedMs: Math.max(0, (asked === undefined && end?.ran === false ? end.at : begun) - madeAt),
    waited: { asked: sumOf(waits, "asked"), held: sumOf(waits, "held") },
    ranMs: end?.ran === true ? end.durationMs : 0,
  }
}

const sumOf = ({ ended }: Waits, kind: Wait["for"]) =>
  ended.reduce((sum, wait) => sum + (wait.for === kind ? wait.ms : 0), 0)

/** Ids of calls begin with the time at which they were made (UUIDv7). */
export function timeOfId(callId: string): number | undefined {
  const hex = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(callId)
  return hex === null ? undefined : Number.parseInt(`${hex[1]}${hex[2]}`, 16)
}

/** Recorded JSON, or the text itself where it was cut. */
export function recordedValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
