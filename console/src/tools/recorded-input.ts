import { isObject } from "../../../src/lib/is-object.ts"

/** The input for another such call, and the fields that the record has only masked or cut. */
export interface UsableInput {
  readonly input: unknown
  readonly leftOut: readonly string[]
}

/** Reads a recorded input. A mask must not be sent as if it were the value. Undefined where too much of it is missing. */
export function usableInput(recorded: string, isWhole: boolean): UsableInput | undefined {
  let input: unknown
  try {
    input = JSON.parse(recorded)
  } catch {
    return undefined
  }
  if (isWhole) return { input, leftOut: [] }
  if (!isObject(input)) return undefined
  const entries = Object.entries(input)
  const leftOut = entries.filter(([, value]) => isMasked(value)).map(([name]) => name)
  return { input: Object.fromEntries(entries.filter(([name]) => !leftOut.includes(name))), leftOut }
}

/** The audit log writes three stars for a secret, and three dots for what is too long. */
const isMasked = (value: unknown) => /\*\*\*|…/.test(JSON.stringify(value))
