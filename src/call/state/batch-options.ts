import type { ToolResult, Ticket } from "../../core/result.ts"

export interface BatchOptions {
  /** Milliseconds to wait for people; then calls that still wait are returned as tickets. Default: to the end. */
  waitMs?: number
  /** Aborted to stop waiting for people sooner. */
  detach?: AbortSignal
  /**
   * The calls are one answer of a model: if one of them asks a person, those with effects wait until all questions are
   * answered; calls that only read go on, and a no ends its own call. By default none waits for another.
   */
  oneAnswer?: boolean
  /** Called when a call of the batch begins and ends, with its position. */
  onStart?: (position: number) => void
  onEnd?: (position: number, ended: ToolResult | Ticket) => void
  /** Told when calls of the batch begin and end, and when they begin and cease to wait for people. */
  clock?: CallClock
}

/** Measures the time that calls take. It may leave out the time in which all of them wait for people. */
export interface CallClock {
  /** Counts a call that began (+1) or ended (-1). */
  countChild(change: 1 | -1): void
  /** Counts a call that begins (+1) or ceases (-1) to wait for a person. */
  countWaiting(change: 1 | -1): void
}
