import type { Schema } from "../../core/schema.ts"
import type { ActiveCall } from "./active-call.ts"

/**
 * Providers such as OpenAI send the arguments as JSON text. The request gets their value here, right after the tool is known,
 * so that everything else sees the value: rules, approvers, keys, the audit log. A text stays as it is if it is not a JSON
 * object, or if the tool takes texts. So does the input of a stored call, which was read before.
 */
export function readJsonText(call: ActiveCall, schema: Schema | undefined): void {
  const { input } = call.request
  if (typeof input !== "string" || call.row !== undefined || schema?.check(input).ok === true) return
  const value = jsonObject(input)
  if (value !== undefined) call.request = { ...call.request, input: value }
}

/** An empty text means no arguments. */
function jsonObject(text: string): object | undefined {
  if (text.trim() === "") return {}
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
