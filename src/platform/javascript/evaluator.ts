/** A piece of JavaScript to run. */
export interface Script {
  /** The body of an async function with a parameter `input`, or one expression. */
  readonly code: string
  /** The value of `input`. */
  readonly input?: unknown
  /** The most characters of the result's JSON. */
  readonly resultLimit: number
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export interface ScriptResult {
  /** Plain JSON. Null when the code returns nothing. */
  readonly result: unknown
  /** The lines it wrote to the console. */
  readonly logs: readonly string[]
  /** The number of lines dropped. */
  readonly logsDropped: number
}

/**
 * Runs JavaScript without access to files, network, processes or timers. Failures have one of the codes
 * `js_execution_failed` `js_timeout` `js_out_of_memory` `non_json_serializable_return` `result_too_large`.
 */
export interface JavaScript {
  run(script: Script): Promise<ScriptResult>
}
