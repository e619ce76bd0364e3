export type ModelErrorCode =
  | "unknown_model"
  | "missing_key"
  | "missing_package"
  | "bad_script"
  | "script_failed"
  | "wrong_key"
  | "model_not_found"
  | "context_exceeded"
  | "refused_schema"
  | "refused_request"
  | "rate_limited"
  | "server_error"
  | "unreachable"
  | "cut_stream"
  | "malformed_call"
  | "bad_answer"
  | "too_large"
  | "timeout"
  | "failed"

/** Why a model did not answer, as a sentence that says what to do. Keys are masked. */
export class ModelError extends Error {
  override readonly name = "ModelError"
  readonly code: ModelErrorCode
  /** The time that the server asks to wait. */
  readonly retryAfterMs: number | undefined

  /** Without a `cause`: what providers' libraries throw holds the request and can hold the key. */
  constructor(code: ModelErrorCode, message: string, retryAfterMs?: number) {
    super(message)
    this.code = code
    this.retryAfterMs = retryAfterMs
  }

  /** The number of retries that are worthwhile. */
  get retries(): number {
    return transient.has(this.code) ? Infinity : this.code === "malformed_call" ? 1 : 0
  }
}

const transient: ReadonlySet<ModelErrorCode> = new Set(["rate_limited", "server_error", "unreachable", "cut_stream"])
