import { valueAtPointer, parseJsonPointer } from "../../lib/json-pointer.ts"
import type { ToolResult } from "../../core/result.ts"
import { quoteName } from "./card-rows.ts"

/** Reads JSON pointers from a line. A pointer that matches nothing is wrong: the redaction would have no effect. */
export function readRedactions(line: string, result: ToolResult | undefined): { redact: string[] } | { wrong: string } {
  if (result?.success !== true) return { wrong: "This is an error and has no parts. Replace it or withhold it." }
  const redact = line.split(",").map((pointer) => pointer.trim())
  const unknown = redact.find((pointer) => {
    const steps = pointer === "" ? undefined : parseJsonPointer(pointer)
    return steps === undefined || valueAtPointer(result.result, steps) === undefined
  })
  if (unknown === undefined) return { redact }
  return {
    wrong: `There is nothing at ${quoteName(unknown)} in the result. Name places as JSON pointers: /rows/0/name, /total.`,
  }
}
