import type { Effect } from "../../core/permission.ts"
import type { EndingCode } from "../../core/result.ts"

/** The decision after something failed. */
export interface Reflection {
  /**
   * - `continue`: go on as planned.
   * - `replan`: go on another way, perhaps with another tool.
   * - `complete`: end here with what there is; part of the task is done.
   */
  verdict: "complete" | "continue" | "replan"
  /** A summary of what happened, in a sentence. */
  assessment: string
  lessons: readonly string[]
  nextFocus?: string
  toolFailures?: readonly { toolName: string; error: string; suggestion?: string }[]
  /** Tools that are not to be called any more for this task. */
  withoutTools?: readonly string[]
}

/** Something that was done: a call, or a step of a plan. */
export interface ReflectedAction {
  stepId: string
  toolName: string
  success: boolean
  error?: string
  code?: EndingCode
  /** True if it may succeed a little later. It was tried again already, where that is safe. */
  transient?: boolean
}

/** A tool that can still be called. */
export interface CallableTool {
  name: string
  group: string
  effect?: Effect
  /** The tools that do its work when it fails, by name. */
  fallbacks: readonly string[]
}

export interface ReflectionInput {
  /** The goal of the whole task. */
  goal: string
  /** Everything done so far, oldest first. */
  actionsDone: readonly ReflectedAction[]
  /** The failures since the last reflection. */
  failures: readonly ReflectedAction[]
  tools: readonly CallableTool[]
  /** The steps still to do. Undefined in a chain, where the model decides on each next step. */
  stepsLeft?: readonly { id: string; toolName?: string; needs?: readonly string[] }[]
  signal?: AbortSignal
}

/**
 * Decides how to go on after failures. The default follows fixed rules; a model can take its place.
 *
 * ```ts
 * const careful: Reflector = {
 *   reflect: ({ failures }) => ({ verdict: "complete", assessment: `${failures.length} calls failed.`, lessons: [] }),
 * }
 * app.chain("dev", { reflect: careful })
 * ```
 */
export interface Reflector {
  reflect(input: ReflectionInput): Reflection | Promise<Reflection>
}
