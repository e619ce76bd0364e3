import type { ReportedOutcome } from "../../core/call.ts"
import { isObject } from "../../lib/is-object.ts"

export type Fields = Readonly<Record<string, unknown>>

/** A call as a coding agent's hook tells of it. */
export interface HookedCall {
  tool: string
  input: unknown
  /** The agent's own id of the call, where it has one. */
  id?: string
  sessionId: string
  cwd?: string
  /** The kind of sub-agent that makes the call. */
  subAgent?: string
}

/** The event that a hook is about. */
export type HookEvent =
  /** The agent wants to run a tool. `isAttended`: it asks its person about what a hook leaves open. */
  | { kind: "before"; call: HookedCall; isAttended: boolean }
  | { kind: "after"; call: HookedCall; outcome: ReportedOutcome }
  | { kind: "session-end"; sessionId: string }
  | { kind: "other" }

/** The output and the exit code of the hook's process. */
export interface HookReply {
  stdout: string
  stderr: string
  code: number
}

/** The protocol of one coding agent with its hooks. */
export interface HookClient {
  /** Reads what the hook got on stdin. Throws a sentence for what cannot be read. `event` is of the command line. */
  read(payload: Fields, event: string | undefined): HookEvent
  /**
   * True where the agent was seen to run the input that it is answered with. Any other would run its own, after a person
   * changed it.
   */
  readonly takesInput: boolean
  /** The call may run, with this input in place of its own if a person changed it. */
  allow(change: { input: unknown } | undefined, note: string | undefined): HookReply
  /** The agent asks its own person. Only for an agent whose events can be attended. */
  ask?(reason: string): HookReply
  deny(reason: string): HookReply
  /** The model gets `text` in place of what the tool returned. Undefined where the agent cannot do that. */
  replace(output: unknown, text: string, call: HookedCall): HookReply | undefined
}

export const nothing: HookReply = { stdout: "", stderr: "", code: 0 }

export function json(value: unknown): HookReply {
  return { stdout: JSON.stringify(value), stderr: "", code: 0 }
}

/** A text under the first of these names. Throws where none is there. */
export function textOf(payload: Fields, ...names: readonly string[]): string {
  const found = optionalText(payload, ...names)
  if (found === undefined) throw new Error(`It has no ${names.join(" or ")}.`)
  return found
}

export function optionalText(payload: Fields, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = payload[name]
    if (typeof value === "string" && value !== "") return value
  }
  return undefined
}

/** An input that some agents send as JSON text. */
export function inputOf(value: unknown): unknown {
  if (typeof value !== "string") return value ?? {}
  try {
    const parsed = JSON.parse(value) as unknown
    return isObject(parsed) ? parsed : value
  } catch {
    return value
  }
}
