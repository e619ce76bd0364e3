import { intentParameter, longestIntent } from "./intent-text.ts"
import type { JsonSchema } from "../core/schema.ts"

const intentSchema: JsonSchema = {
  type: "string",
  maxLength: longestIntent,
  description: "Why you make this call, in one sentence for the person who may have to approve it.",
}

const asking = new WeakMap<JsonSchema, boolean>()

/** Reports whether a tool with this schema can be given an intent. Not if the schema uses that name itself. */
export function canAskIntent(json: JsonSchema): boolean {
  let can = asking.get(json)
  if (can === undefined) asking.set(json, (can = !JSON.stringify(json).includes(`"${intentParameter}"`)))
  return can
}

const asked = new WeakMap<JsonSchema, JsonSchema>()

/** The schema as a model sees it that is asked for its intent. The given one stays as it is, and so do hashes of it. */
export function withIntent(json: JsonSchema): JsonSchema {
  if (!canAskIntent(json)) return json
  let result = asked.get(json)
  if (result === undefined) {
    const properties = { ...(json["properties"] as JsonSchema | undefined), [intentParameter]: intentSchema }
    asked.set(json, (result = { ...json, properties }))
  }
  return result
}

/** Reports whether a model that was shown this schema was asked for its intent. */
export function asksIntent(shown: JsonSchema | undefined): boolean {
  return (shown?.["properties"] as JsonSchema | undefined)?.[intentParameter] === intentSchema
}
