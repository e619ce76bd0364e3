/** A piece of JavaScript to compute with. */
export interface Script {
  /** The body of an async function with `input`, or one expression. */
  readonly code: string
  /** What the code finds as `input`. */
  readonly input?: unknown
  /** Characters of the result's JSON at most. */
  readonly resultLimit: number
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

export interface ScriptResult {
  /** Plain JSON; null for nothing. */
  readonly result: unknown
  /** What it wrote to the console, a line each. */
  readonly logs: readonly string[]
  /** Lines of the console that were not kept. */
  readonly logsDropped: number
}

/**
 * Runs JavaScript that reaches nothing: no file, no network, no process, no clock but the time. Refusals are `failure`s
 * with `js_execution_failed` `js_timeout` `js_out_of_memory` `non_json_serializable_return` `result_too_large`.
 */
export interface JavaScript {
  run(script: Script): Promise<ScriptResult>
}
