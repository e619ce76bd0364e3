import { printableJson } from "../lib/printable.ts"

/** What people are shown of an intent: in quotes and on one line, because the agent could write anything. */
export function intentText(intent: string): string {
  return `The agent says (unverified): ${printableJson(intent)}`
}
