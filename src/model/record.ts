import type { EndingCode, ToolExecuteStatus } from "./result.ts"

/** *crash* survives `kill -9`; *power* also survives a power cut, because it is synced before it counts as kept. */
export type Durability = "crash" | "power"

/** Why a call was decided as it was. Every denial names its voice and source. */
export interface Reason {
  /** Who spoke: group, role, department, level, permission, limit, rule, guard, person. */
  voice: string
  /** Where that is written: a tool id, a config line, a rule. */
  source: string
  sentence: string
  /** For an ask that nothing but a person lifts: no allow rule, no grant. */
  binding?: boolean | undefined
  /** For a rule in shadow: what it would have said. It decides nothing. */
  shadow?: "allow" | "ask" | "deny" | undefined
}

interface About {
  callId: string
  /** Milliseconds since 1970. */
  at: number
}

/** Who called what, with what. Text is masked and cut before it gets here. */
export interface CallFacts {
  agentId: string
  role?: string | undefined
  tool: string
  version?: string | undefined
  layer?: string | undefined
  sessionId?: string | undefined
  taskId?: string | undefined
  userId?: string | undefined
  parentCallId?: string | undefined
  traceId?: string | undefined
  key?: string | undefined
  /** JSON text of the input as the record may show it. */
  input?: string | undefined
  /** Keyed digest of the whole input, present when `input` was masked or cut. */
  inputDigest?: string | undefined
  policy?: string | undefined
}

export interface StartEntry extends About, CallFacts {
  kind: "start"
  reasons?: readonly Reason[] | undefined
  /** The process that runs it, where several write into one chain. */
  owner?: string | undefined
}

export interface EndEntry extends About, CallFacts {
  kind: "end"
  status: ToolExecuteStatus
  code?: EndingCode | undefined
  startedAt: number
  durationMs: number
  error?: string | undefined
  /** JSON text of the result, masked and cut. */
  result?: string | undefined
  resultDigest?: string | undefined
  resultLength?: number | undefined
  reasons?: readonly Reason[] | undefined
  /** False when the call never got as far as its tool. */
  ran: boolean
}

/** What happened between a start and an end, or without a call at all. */
export interface StepEntry extends About {
  kind: "asked" | "answered" | "try" | "late" | "held" | "released" | "withheld" | "note"
  agentId?: string | undefined
  tool?: string | undefined
  by?: string | undefined
  text?: string | undefined
}

/** One line of the record. */
export type RecordEntry = StartEntry | EndEntry | StepEntry
