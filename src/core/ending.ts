import type { EndingCode } from "./result.ts"
import { renderDialectText, type DialectText } from "./dialect-text.ts"

export interface EndingDetails {
  /** A tool's own code, for example `file_not_found`. */
  toolCode?: string
  rejectReason?: string
  metadata?: Record<string, unknown>
  cause?: unknown
  /** A withheld result, when the host keeps it. It must not reach the model. */
  result?: unknown
}

/** Thrown by a step to end the call. Caught in one place, `call/steps/record.ts`. */
export class Ending extends Error {
  override readonly name = "Ending"
  readonly code: EndingCode
  readonly details: EndingDetails
  /** The message before tool names are translated into the caller's dialect. */
  readonly said: DialectText | undefined

  constructor(code: EndingCode, sentence: string | DialectText, details: EndingDetails = {}) {
    super(renderDialectText(sentence), details.cause === undefined ? undefined : { cause: details.cause })
    this.said = typeof sentence === "string" ? undefined : sentence
    this.code = code
    this.details = details
  }
}

/** An expected failure of a tool. Its sentence is written for the model. Make one with `failure`. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure"
  readonly toolCode: string | undefined
  readonly transient: boolean
  readonly metadata: Record<string, unknown> | undefined
  /** The message before tool names are translated into the caller's dialect. */
  readonly said: DialectText | undefined

  constructor(sentence: string | DialectText, details: FailureDetails = {}) {
    super(renderDialectText(sentence), details.cause === undefined ? undefined : { cause: details.cause })
    this.said = typeof sentence === "string" ? undefined : sentence
    this.toolCode = details.toolCode
    this.transient = details.transient ?? false
    this.metadata = details.metadata
  }
}

export interface FailureDetails {
  /** A code of the tool's own, for example `file_not_found`. */
  toolCode?: string
  /** True when the same call may succeed a little later. Idempotent tools are then retried. */
  transient?: boolean
  metadata?: Record<string, unknown>
  cause?: unknown
}

/**
 * Makes an error to throw from `execute`. The sentence tells the model what went wrong and what to do next.
 *
 * ```ts
 * throw failure("File not found: notes.md. Call list_files to see which files exist.", { toolCode: "file_not_found" })
 * ```
 */
export function failure(sentence: string | DialectText, details?: FailureDetails): ToolFailure {
  return new ToolFailure(sentence, details)
}

/** The store could not write something. Code that catches this must not go on as if it had been written. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable"
}
