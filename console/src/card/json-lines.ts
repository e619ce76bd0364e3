import { printableJson } from "../../../src/lib/printable.ts"

/** A part of a printed JSON value. A value that can be redacted has its pointer. */
export interface JsonToken {
  readonly kind: "plain" | "key" | "string" | "number"
  readonly text: string
  readonly pointer?: string
}

/** A line of a printed value; `folded` stands for so many elements of an array that are not printed. */
export interface JsonLine {
  readonly tokens: readonly JsonToken[]
  readonly folded?: { readonly pointer: string; readonly count: number }
}

const escape = (step: string) => step.replaceAll("~", "~0").replaceAll("/", "~1")

/** Prints a value as JSON.stringify does with two spaces, hidden characters as codes. Arrays show at most `limit` elements. */
export function jsonLines(value: unknown, limit = Number.POSITIVE_INFINITY): readonly JsonLine[] {
  const lines: { tokens: JsonToken[]; folded?: JsonLine["folded"] }[] = [{ tokens: [] }]
  const add = (token: JsonToken) => lines.at(-1)?.tokens.push(token)
  const plain = (text: string) => add({ kind: "plain", text })
  const newLine = (depth: number) => {
    lines.push({ tokens: [] })
    if (depth > 0) plain("  ".repeat(depth))
  }
  const print = (node: unknown, pointer: string, depth: number) => {
    if (typeof node !== "object" || node === null) {
      const kind = typeof node === "string" ? "string" : "number"
      add({ kind, text: printableJson(node), pointer })
      return
    }
    const isList = Array.isArray(node)
    const entries = Object.entries(node)
    const [open, close] = isList ? ["[", "]"] : ["{", "}"]
    if (entries.length === 0) return plain(open + close)
    plain(open)
    const shown = isList && entries.length > limit + 1 ? entries.slice(0, limit) : entries
    for (const [at, [key, child]] of shown.entries()) {
      newLine(depth + 1)
      if (!isList) {
        add({ kind: "key", text: printableJson(key) })
        plain(": ")
      }
      print(child, `${pointer}/${escape(key)}`, depth + 1)
      if (at < entries.length - 1) plain(",")
    }
    if (shown.length < entries.length) {
      newLine(depth + 1)
      const line = lines.at(-1)
      if (line !== undefined) line.folded = { pointer, count: entries.length - shown.length }
    }
    newLine(depth)
    plain(close)
  }
  print(value, "", 0)
  return lines
}
