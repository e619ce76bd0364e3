import { longestIntent, withoutIntent } from "../../schema/intent-text.ts"
import type { Ports } from "./ports.ts"
import type { Schema } from "../../core/schema.ts"
import { wholeCharacters } from "../../core/model-text.ts"
import { canAskIntent } from "../../schema/intent.ts"
import { secretPaths } from "../../schema/secret-paths.ts"
import type { ActiveCall } from "./active-call.ts"

/**
 * Moves what the agent says about the reason of its call from the input to `request.intent`, before anything looks at the
 * input: no check, digest, key or grant depends on it. A stored call has its intent already.
 */
export function takeIntent(call: ActiveCall, schema: Schema | undefined, ports: Ports): void {
  const { request, row } = call
  if (row !== undefined) return
  const isAsked = ports.settings.askIntent && schema !== undefined && canAskIntent(schema.json)
  const { said, input } = isAsked ? withoutIntent(request.input) : { said: undefined, input: request.input }
  if (input === request.input && request.intent === undefined) return
  call.request = { ...request, input, intent: undefined }
  call.request.intent = shownIntent(request.intent ?? said, secretsIn(call, schema, ports), ports)
}

/** One masked line. Anything but a text counts as nothing. */
function shownIntent(said: unknown, secrets: readonly string[] | undefined, ports: Ports): string | undefined {
  if (typeof said !== "string") return undefined
  const line = ports.masker.text(said, secrets).toWellFormed().replaceAll("\0", " ").replace(/\s+/g, " ").trim()
  return line === "" ? undefined : wholeCharacters(line, longestIntent)
}

/** The secrets of the input, which the agent may repeat in its sentence. The input was not validated yet. */
function secretsIn({ request }: ActiveCall, schema: Schema | undefined, ports: Ports): readonly string[] | undefined {
  try {
    return ports.masker.mask(request.input, schema && secretPaths(schema.json)).hidden
  } catch {
    return undefined
  }
}
