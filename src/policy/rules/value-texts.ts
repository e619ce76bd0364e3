import type { Glob } from "../../lib/glob.ts"
import { canonicalJson } from "../../lib/canonical-json.ts"

/** Reports whether a value matches or, with `within`, any part of it. */
export function textMatches(value: unknown, glob: Glob, within: boolean): boolean {
  return typeof value === "string" ? glob.matches(value) : textsOf(value, within).some((text) => glob.matches(text))
}

/** The texts a value is compared by: its own and, with `within`, those of everything in a list or an object. */
export function textsOf(value: unknown, within: boolean): readonly string[] {
  if (value === undefined) return []
  if (typeof value === "string") return [value]
  if (!within) return [canonicalJson(value)]
  const texts: string[] = []
  spell(value, texts)
  return texts
}

/** The value's canonical JSON, built from that of its parts, so that deep values are not serialised again and again. */
function spell(value: unknown, texts: string[]): string {
  const text =
    typeof value === "string"
      ? JSON.stringify(value)
      : Array.isArray(value)
        ? `[${value.map((part) => (part === undefined ? "null" : spell(part, texts))).join()}]`
        : isPlain(value)
          ? spellObject(value, texts)
          : canonicalJson(value)
  texts.push(typeof value === "string" ? value : text)
  return text
}

function spellObject(value: Record<string, unknown>, texts: string[]): string {
  const names = Object.keys(value).filter((name) => value[name] !== undefined)
  // Names that are numbers come first in any object, also in one that was made in another order.
  const sorted = Object.keys(Object.fromEntries(names.sort().map((name) => [name, 0])))
  return `{${sorted.map((name) => `${JSON.stringify(name)}:${spell(value[name], texts)}`).join()}}`
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
