import type { EndingCode } from "./result.ts"

export interface EndingDetails {
  /** A tool's own code, for example `file_not_found`. */
  toolCode?: string | undefined
  rejectReason?: string | undefined
  metadata?: Record<string, unknown> | undefined
  cause?: unknown
  /** A result that exists but must not reach the model. */
  result?: unknown
}

/** Thrown by a step to end the call it walks; caught in one place, `call/record.ts`. */
export class Ending extends Error {
  override readonly name = "Ending"
  readonly code: EndingCode
  readonly details: EndingDetails

  constructor(code: EndingCode, sentence: string, details: EndingDetails = {}) {
    super(sentence, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.details = details
  }
}

/** A failure a tool announces: its sentence is written for the model. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure"
  readonly toolCode: string | undefined
  readonly transient: boolean
  readonly metadata: Record<string, unknown> | undefined

  constructor(sentence: string, details: FailureDetails = {}) {
    super(sentence, details.cause === undefined ? undefined : { cause: details.cause })
    this.toolCode = details.toolCode
    this.transient = details.transient ?? false
    this.metadata = details.metadata
  }
}

export interface FailureDetails {
  toolCode?: string
  /** The same call may well succeed a second later. */
  transient?: boolean
  metadata?: Record<string, unknown>
  cause?: unknown
}

/** `throw failure("The file is not there. Call list_files to see what is.", { toolCode: "file_not_found" })` */
export function failure(sentence: string, details?: FailureDetails): ToolFailure {
  return new ToolFailure(sentence, details)
}

/** Something could not be written down. Whoever gets it must not go on as if it had been. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable"
}
