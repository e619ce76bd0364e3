import { wholeCharacters } from "../../core/model-text.ts"
import type { JsonSchema } from "../../core/schema.ts"
import { compileJsonSchema } from "../../schema/json-schema.ts"

/**
 * The first of some forms of a value that fits the announced output schema. Clients refuse a result that does not fit.
 * Undefined when none does.
 */
export function firstThatFits(forms: readonly unknown[], schema: JsonSchema | undefined): unknown {
  if (schema === undefined) return forms[0]
  try {
    const { check } = compileJsonSchema(schema)
    return forms.find((form) => check(form).ok)
  } catch {
    return undefined
  }
}

/** The value as redacted, and without the fields that were, for schemas that take no text there. */
export function redactedForms(value: unknown): unknown[] {
  return [value, withoutRedacted(value)]
}

function withoutRedacted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRedacted)
  if (typeof value !== "object" || value === null) return value
  const kept = Object.entries(value).filter(([, field]) => field !== "[redacted]")
  return Object.fromEntries(kept.map(([key, field]) => [key, withoutRedacted(field)]))
}

/** The value cut to about so many characters: without the fields that have no room, and with all fields. */
export function cutForms(value: unknown, limit: number): unknown[] {
  return [cutTo(value, limit, false), cutTo(value, limit, true)]
}

function cutTo(value: unknown, limit: number, keepsFields: boolean): unknown {
  let left = limit
  const cut = (part: unknown): unknown => {
    if (typeof part === "string") {
      const room = Math.max(0, left)
      left -= part.length
      return part.length <= room
        ? part
        : `${wholeCharacters(part, room)}[truncated: ${room} of ${part.length} characters.]`
    }
    if (Array.isArray(part)) {
      const kept: unknown[] = []
      for (const item of part) {
        if (left <= 0) break
        kept.push(cut(item))
      }
      return kept
    }
    if (typeof part !== "object" || part === null) {
      left -= String(part).length + 1
      return part
    }
    const fields: [string, unknown][] = []
    for (const [key, field] of Object.entries(part)) {
      if (left <= 0 && !keepsFields) break
      left -= key.length + 4
      fields.push([key, cut(field)])
    }
    return Object.fromEntries(fields)
  }
  return cut(value)
}
