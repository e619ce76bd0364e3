import { pointedAt, pointerSteps } from "../model/pointer.ts"
import type { ToolResult } from "../model/result.ts"
import { named } from "./card-rows.ts"

/** JSON pointers out of a line a person wrote, or what is wrong with it. A pointer to nothing would let everything out. */
export function readRedactions(line: string, result: ToolResult | undefined): { redact: string[] } | { wrong: string } {
  if (result?.success !== true) return { wrong: "This is an error and has no parts. Replace it or withhold it." }
  const redact = line.split(",").map((pointer) => pointer.trim())
  const odd = redact.find((pointer) => {
    const steps = pointer === "" ? undefined : pointerSteps(pointer)
    return steps === undefined || pointedAt(result.result, steps) === undefined
  })
  if (odd === undefined) return { redact }
  return {
    wrong: `There is nothing at ${named(odd)} in the result. Name places as JSON pointers: /rows/0/name, /total.`,
  }
}
