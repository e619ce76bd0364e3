import type { CallResult, ChainTurn } from "../context/turns.ts"

/** Limit of characters of results that one call may be given. */
const longestInput = 1_000_000

/** Every result of a conversation by its number. */
export function resultsByRef(turns: readonly ChainTurn[]): ReadonlyMap<string, CallResult> {
  const results = new Map<string, CallResult>()
  for (const turn of turns)
    if (turn.kind === "results") for (const result of turn.body.results) results.set(result.ref, result)
  return results
}

/**
 * Replaces every `{"$ref": "r3"}` in an input by what the model was given of that result: a text as a text, anything else
 * as a value, and of a result that was cut the text that is shown. Other objects with `$ref`, such as JSON Schemas, stay
 * as they are. Returns a sentence instead when a result may not be used.
 */
export function expandRefs(
  input: unknown,
  results: ReadonlyMap<string, CallResult>,
): { input: unknown } | { problem: string } {
  let problem: string | undefined
  let length = 0
  const expand = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(expand)
    if (typeof value !== "object" || value === null) return value
    const ref = "$ref" in value ? refOf(value) : undefined
    if (ref === undefined) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, expand(each)]))
    const result = results.get(ref)
    if (result === undefined) problem ??= `There is no result ${ref} in this conversation.`
    else if (result.status !== "success") problem ??= `Result ${ref} cannot be passed on: ${result.text}`
    length += result?.text.length ?? 0
    if (length > longestInput)
      problem ??= "The results that the arguments pass on are too long together. Pass on fewer."
    return result === undefined || problem !== undefined ? undefined : valueOf(result)
  }
  const expanded = expand(input)
  return problem === undefined ? { input: expanded } : { problem }
}

function refOf(value: object): string | undefined {
  const entries = Object.entries(value)
  const [key, ref] = entries[0] ?? []
  return entries.length === 1 && key === "$ref" && typeof ref === "string" && /^r[1-9]\d*$/.test(ref) ? ref : undefined
}

/** The value without what a person said about the call, and without our own notes. */
function valueOf({ text, value }: CallResult): unknown {
  if (value === undefined) return text
  const shown = text.slice(value.start, value.end)
  return value.isJson ? JSON.parse(shown) : shown
}
