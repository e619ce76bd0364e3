import { printableJson } from "../lib/printable.ts"

/** The parameter in which a model may say why it makes a call. */
export const intentParameter = "_intent"

export const longestIntent = 200

/** What people are shown of an intent: in quotes and on one line, because the agent could write anything. */
export function intentText(intent: string): string {
  return `The agent says (unverified): ${printableJson(intent)}`
}
