import { parseJsonPointer, valueAtPointer } from "../../lib/json-pointer.ts"
import type { Condition } from "./definition.ts"

export type Path = readonly (string | number)[]

/** A place in the result of a step, as `fetch#/items/0/name` names it. */
export interface Reference {
  step: string
  pointer: readonly string[]
  text: string
  /** Its place in the definition. */
  path: Path
  /** True if it has a default for a missing value. */
  hasDefault: boolean
}

export interface FoundReferences {
  references: readonly Reference[]
  problems: readonly { path: Path; sentence: string }[]
}

/** Reads `step` or `step#/json/pointer`. Undefined when the pointer is none. */
export function readReference(text: string): { step: string; pointer: readonly string[] } | undefined {
  const at = text.indexOf("#")
  if (at === -1) return { step: text, pointer: [] }
  const pointer = parseJsonPointer(text.slice(at + 1))
  return pointer && { step: text.slice(0, at), pointer }
}

/** Every reference in an input, and those that are written wrongly. */
export function referencesIn(value: unknown, path: Path): FoundReferences {
  const references: Reference[] = []
  const problems: { path: Path; sentence: string }[] = []
  const look = (part: unknown, at: Path): void => {
    if (typeof part !== "object" || part === null) return
    const form = formOf(part)
    if (form === undefined) {
      if (Array.isArray(part)) part.forEach((each, index) => look(each, [...at, index]))
      else for (const [key, each] of Object.entries(part)) look(each, [...at, key])
    } else if (form.kind === "wrong") problems.push({ path: at, sentence: form.sentence })
    else if (form.kind === "from") {
      const found = referenceAt(form.text, at, form.hasDefault)
      if ("sentence" in found) problems.push(found)
      else references.push(found)
    }
  }
  look(value, path)
  return { references, problems }
}

/** Every reference to a value in a condition. */
export function conditionReferences(condition: Condition, path: Path): FoundReferences {
  const found = nestedConditions(condition, path).flatMap(({ condition: { $from }, path: at }) =>
    $from === undefined ? [] : [referenceAt($from, [...at, "$from"], true)],
  )
  return {
    references: found.filter((one): one is Reference => !("sentence" in one)),
    problems: found.filter((one) => "sentence" in one),
  }
}

/** The condition and all conditions in it. */
export function nestedConditions(condition: Condition, path: Path): { condition: Condition; path: Path }[] {
  const { not, all = [], any = [] } = condition
  return [
    { condition, path },
    ...(not === undefined ? [] : nestedConditions(not, [...path, "not"])),
    ...all.flatMap((each, index) => nestedConditions(each, [...path, "all", index])),
    ...any.flatMap((each, index) => nestedConditions(each, [...path, "any", index])),
  ]
}

function referenceAt(text: string, path: Path, hasDefault: boolean): Reference | { path: Path; sentence: string } {
  const read = readReference(text)
  if (read !== undefined) return { ...read, text, path, hasDefault }
  return { path, sentence: `'${text}' is not a reference. Write a step and a JSON pointer, such as fetch#/items/0.` }
}

type Form =
  | { kind: "from"; text: string; hasDefault: boolean; default: unknown }
  | { kind: "literal"; value: unknown }
  | { kind: "wrong"; sentence: string }

/** `{ $from }` is a reference, `{ $literal }` a value in which nothing is one. Undefined for any other object. */
function formOf(value: object): Form | undefined {
  if (Array.isArray(value)) return undefined
  const { $from: text, $literal: literal, default: fallback } = value as Record<string, unknown>
  const keys = Object.keys(value).sort().join()
  if (keys === "$literal") return { kind: "literal", value: literal }
  const hasDefault = keys === "$from,default"
  if ((keys === "$from" || hasDefault) && typeof text === "string")
    return { kind: "from", text, hasDefault, default: fallback }
  if (!("$from" in value || "$literal" in value)) return undefined
  return {
    kind: "wrong",
    sentence: `Write a reference as { $from: "step#/pointer" }, with 'default' beside it if you like, and nothing else; a value that is to stay as it is as { $literal: … }.`,
  }
}

/** The target of a reference: a value, nothing, or a reason why it must not be used. */
export type Lookup = (reference: {
  step: string
  pointer: readonly string[]
  text: string
}) => { value: unknown } | { missing: string } | { refused: string }

/** Limit of characters that the references of one input, or of the outputs, may bring together. */
export const maxReferred = 10_000_000

/**
 * Replaces every reference by its value. Returns a sentence instead where one has none, or where they are too long: a value
 * may be referred to often, so that a few steps could fill the memory.
 */
export function expandReferences(
  value: unknown,
  lookup: Lookup,
  limit = maxReferred,
): { value: unknown; size: number } | { problem: string } {
  let problem: string | undefined
  let size = 0
  const expand = (part: unknown): unknown => {
    if (typeof part !== "object" || part === null) return part
    if (Array.isArray(part)) return part.map(expand)
    const form = formOf(part)
    if (form === undefined) return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, expand(each)]))
    if (form.kind === "literal") return form.value
    if (form.kind === "wrong") return void (problem ??= form.sentence)
    const read = readReference(form.text)
    const found = read === undefined ? { missing: "It is no reference." } : lookup({ ...read, text: form.text })
    if ("value" in found) {
      size += sizeOf(found.value, limit - size)
      if (size <= limit) return found.value
      return void (problem ??= `With ${form.text} it has more than ${maxReferred / 1e6} million characters. Take a part of that result, or pass on a file.`)
    }
    if ("missing" in found && form.hasDefault) return form.default
    return void (problem ??= "missing" in found ? found.missing : found.refused)
  }
  const expanded = expand(value)
  return problem === undefined ? { value: expanded, size } : { problem }
}

/** Returns the rough number of characters of a value. Stops counting beyond the limit. */
function sizeOf(value: unknown, limit: number): number {
  if (typeof value === "string") return value.length
  if (typeof value !== "object" || value === null) return 8
  let size = 2
  for (const [key, each] of Object.entries(value)) {
    size += key.length + sizeOf(each, limit - size)
    if (size > limit) return size
  }
  return size
}

/** Replaces the references to one source by its values, as literals: nothing in them is a reference. Others stay. */
export function fillReferences(template: unknown, source: string, given: unknown): unknown {
  const fill = (part: unknown): unknown => {
    if (typeof part !== "object" || part === null) return part
    if (Array.isArray(part)) return part.map(fill)
    const form = formOf(part)
    if (form === undefined) return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, fill(each)]))
    const read = form.kind === "from" ? readReference(form.text) : undefined
    const found = read?.step === source ? pick(given, read.pointer) : undefined
    return found === undefined ? part : { $literal: found.value }
  }
  return fill(template)
}

/** The value at a pointer, or that there is none. A result of nothing is null. */
export function pick(value: unknown, pointer: readonly string[]): { value: unknown } | undefined {
  if (pointer.length === 0) return { value: value ?? null }
  const found = valueAtPointer(value, pointer)
  return found === undefined ? undefined : { value: found }
}
