import { resolve } from "node:path"
import type { Effect } from "../../core/permission.ts"
import type { Preview } from "../../core/preview.ts"
import type { Touch } from "../../core/touches.ts"

export type Fields = Record<string, unknown>

/**
 * A tool that a coding agent runs itself. One that is like a tool of ours has the rules, permissions, group and preview of
 * that tool, and its input in that tool's own format.
 */
export type ClientTool = LikeOurs | OfItsOwn

export interface LikeOurs {
  readonly like: string
  /** The agent's fields: our name of each, or what becomes of those that we have no name for. */
  readonly fields: Readonly<Record<string, string | Unnamed>>
  /** Of our fields: those that are paths, resolved against the folder that the agent works in. */
  readonly paths?: readonly string[]
  /** Our field for the folder that the agent works in, if the input has none. */
  readonly folder?: string
  /** Changes our input further. */
  readonly more?: (input: Fields) => Fields
  /** For an input that our tool does not take: why it is wrong, if it is. */
  readonly problem?: (input: Fields) => string | undefined
  /** In place of what our tool touches and shows. `input` is ours. */
  readonly touches?: (input: Fields) => readonly Touch[]
  readonly preview?: (input: Fields) => Preview
}

/** `kept` is recorded and approved with the rest, `dropped` is not, `intent` says why the agent makes the call. */
export type Unnamed = typeof kept | typeof dropped | typeof intent
export const kept = Symbol("kept")
export const dropped = Symbol("dropped")
export const intent = Symbol("intent")

/** A tool that is like none of ours. Without an effect a person is asked. */
export interface OfItsOwn {
  readonly like?: undefined
  readonly effect?: Effect
}

/** Our field with the fields of the agent's that have no other name here. */
export const otherFields = "otherFields"

/** The fields of an agent's input, by what they are here. */
export interface ReadFields {
  input: Fields
  intent?: string
}

/** Makes our input. */
export function readFields(tool: LikeOurs, given: Fields, cwd: string | undefined): ReadFields {
  const input: Fields = {}
  const others: Fields = {}
  let why: string | undefined
  for (const [name, value] of Object.entries(given)) {
    const ours = Object.hasOwn(tool.fields, name) ? tool.fields[name] : undefined
    if (value === null || value === undefined || ours === dropped) continue
    if (ours === intent) why = typeof value === "string" ? value : undefined
    else if (typeof ours === "string") input[ours] = value
    else others[name] = value
  }
  if (tool.folder !== undefined && cwd !== undefined) input[tool.folder] ??= cwd
  for (const name of tool.paths ?? []) {
    const path = input[name]
    if (typeof path === "string" && cwd !== undefined) input[name] = resolve(cwd, path)
  }
  const made = tool.more?.(input) ?? input
  if (Object.keys(others).length > 0) made[otherFields] = others
  return why === undefined ? { input: made } : { input: made, intent: why }
}

/** The agent's fields that nobody judges: a newer version of the agent has them, or a model made them up. */
export function unknownFields(tool: LikeOurs, input: Fields): string[] {
  const others = input[otherFields]
  if (typeof others !== "object" || others === null) return []
  return Object.keys(others).filter((name) => !Object.hasOwn(tool.fields, name))
}

/** The agent's input with what a person changed in ours. Undefined where the agent has no field for it. */
export function writeFields(
  tool: LikeOurs,
  edited: Fields,
  given: Fields,
  cwd: string | undefined,
): Fields | undefined {
  const before = readFields(tool, given, cwd).input
  const names = new Map<string, string>()
  for (const [theirs, ours] of Object.entries(tool.fields))
    if (typeof ours === "string" && (!names.has(ours) || Object.hasOwn(given, theirs))) names.set(ours, theirs)
  const result = { ...given }
  for (const name of new Set([...Object.keys(before), ...Object.keys(edited)])) {
    if (JSON.stringify(before[name]) === JSON.stringify(edited[name])) continue
    const theirs = names.get(name)
    // Some agents put what they are given over their own input: there a field cannot be taken away.
    if (theirs === undefined || tool.more !== undefined || edited[name] === undefined) return undefined
    result[theirs] = edited[name]
  }
  return result
}
