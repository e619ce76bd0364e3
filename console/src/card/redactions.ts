import { printable } from "../../../src/lib/printable.ts"
import { parseJsonPointer, redactPointers, valueAtPointer } from "../../../src/lib/json-pointer.ts"

/** A person's redaction of a held result: all values at a path with `*`, or some words of one value. */
export type Redaction =
  | { readonly kind: "values"; readonly path: string }
  | { readonly kind: "text"; readonly pointer: string; readonly text: string }

const mark = "[redacted]"
const escape = (step: string) => step.replaceAll("~", "~0").replaceAll("/", "~1")

/** The pointers that a path means. `*` stands for every element or every key. */
export function pointersAt(value: unknown, path: string): readonly string[] {
  const steps = parseJsonPointer(path)
  if (steps === undefined) return []
  let places: readonly (readonly [string, unknown])[] = [["", value]]
  for (const step of steps) {
    places = places.flatMap(([pointer, node]): (readonly [string, unknown])[] => {
      if (typeof node !== "object" || node === null) return []
      if (step === "*" && !Object.hasOwn(node, "*"))
        return Object.entries(node).map(([key, child]) => [`${pointer}/${escape(key)}`, child])
      const child = valueAtPointer(node, [step])
      return child === undefined ? [] : [[`${pointer}/${escape(step)}`, child]]
    })
  }
  return places.map(([pointer]) => pointer)
}

/** The path of the same field in every element: in an array, the index becomes `*`. */
export function everyElement(value: unknown, pointer: string): string {
  let node: unknown = value
  const steps = (parseJsonPointer(pointer) ?? []).map((step) => {
    const isElement = Array.isArray(node)
    node = valueAtPointer(node, [step])
    return isElement ? "*" : escape(step)
  })
  return steps.length === 0 ? "" : `/${steps.join("/")}`
}

/**
 * Returns the redactions of selected words in the value that has them. Hidden characters were shown as codes, and are
 * meant themselves. Words that are not found, such as half of a code, take out the whole value.
 */
export function redactionsOfWords(value: unknown, pointer: string, words: string): readonly Redaction[] {
  const text = valueAtPointer(value, parseJsonPointer(pointer) ?? [])
  const found = [...new Set([words, withHidden(words)])].filter(
    (each) => typeof text === "string" && text.includes(each),
  )
  if (found.length === 0) return [{ kind: "values", path: pointer }]
  return found.map((each) => ({ kind: "text", pointer, text: each }))
}

/** The text before `printable` wrote its hidden characters as codes. */
function withHidden(shown: string): string {
  return shown.replaceAll(/\\u\{([0-9a-f]{1,5}|10[0-9a-f]{4})\}/g, (code, hex: string) => {
    const character = String.fromCodePoint(Number.parseInt(hex, 16))
    return printable(character) === code ? character : code
  })
}

export function redactValue(value: unknown, redactions: readonly Redaction[]): unknown {
  let result = value
  for (const redaction of redactions) {
    if (redaction.kind === "values") result = redactPointers(result, pointersAt(result, redaction.path))
    else {
      const steps = parseJsonPointer(redaction.pointer)
      const text = steps === undefined ? undefined : valueAtPointer(result, steps)
      if (typeof text !== "string") continue
      result = redactPointers(result, [redaction.pointer], text.replaceAll(redaction.text, mark))
    }
  }
  return result
}

/** Counts the values that lose something. */
export const countRedacted = (value: unknown, redactions: readonly Redaction[]) =>
  new Set(redactions.flatMap((each) => (each.kind === "values" ? pointersAt(value, each.path) : [each.pointer]))).size

/** Whole values are named by pointer, so that the audit log says which. Words inside a value need a new result. */
export function releaseAnswer(value: unknown, redactions: readonly Redaction[]) {
  if (redactions.length === 0) return { kind: "release" as const }
  if (redactions.every(({ kind }) => kind === "values"))
    return {
      kind: "release" as const,
      redact: redactions.flatMap((each) => (each.kind === "values" ? pointersAt(value, each.path) : [])),
    }
  return { kind: "release" as const, replace: redactValue(value, redactions) }
}
