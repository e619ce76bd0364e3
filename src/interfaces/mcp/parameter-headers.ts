import type { IncomingHttpHeaders } from "node:http"
import type { JsonSchema } from "../../core/schema.ts"

/**
 * Says what is wrong with the `Mcp-Param-*` headers of a call: an argument whose property has `x-mcp-header` must be in that
 * header too, with the same value. Undefined when nothing is.
 */
export function parameterHeaderProblem(
  schema: JsonSchema | undefined,
  input: unknown,
  headers: IncomingHttpHeaders,
): string | undefined {
  const properties = objectOf(schema?.["properties"])
  for (const [key, property] of Object.entries(properties)) {
    const value = objectOf(input)[key]
    if (value === undefined || value === null) continue
    const inner = parameterHeaderProblem(objectOf(property), value, headers)
    if (inner !== undefined) return inner
    const name = objectOf(property)["x-mcp-header"]
    if (typeof name !== "string" || typeof value === "object") continue
    const header = `Mcp-Param-${name}`
    const sent = headers[header.toLowerCase()]
    if (sent === undefined) return `the body has '${key}' but the header ${header} is missing`
    const decoded = decode(String(sent))
    if (decoded === undefined) return `the header ${header} is not valid Base64`
    if (!isSame(decoded, value)) return `the header ${header} is not the value of '${key}' in the body`
  }
  return undefined
}

/** Values that a header cannot hold are sent as `=?base64?…?=`. */
function decode(text: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/s.exec(text) ?? []
  if (encoded === undefined) return text
  const bytes = Buffer.from(encoded, "base64")
  if (bytes.toString("base64") !== encoded) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function isSame(text: string, value: unknown): boolean {
  if (typeof value === "number" && /^-?\d+(\.\d+)?$/.test(text)) return Number(text) === value
  return text === String(value)
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
