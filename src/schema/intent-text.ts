import { printableJson } from "../lib/printable.ts"

/** The parameter in which a model may say why it makes a call. */
export const intentParameter = "_intent"

export const longestIntent = 200

/** Takes the intent out of an input. The same input if it has none. */
export function withoutIntent(input: unknown): { said: unknown; input: unknown } {
  if (!isPlainObject(input) || !Object.hasOwn(input, intentParameter)) return { said: undefined, input }
  const { [intentParameter]: said, ...rest } = input
  return { said, input: rest }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** Returns an intent as people are shown it: in quotes and on one line, because the agent could write anything. */
export function intentText(intent: string): string {
  return `The agent says (unverified): ${printableJson(intent)}`
}
