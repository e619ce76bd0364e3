import type { RegisteredTool } from "../../core/tool.ts"
import type { RuleWithTools } from "./flaws.ts"

/** Text patterns for values that are numbers: `[1-9][0-9][0-9]*` does not match 1e21. */
export function doubtfulSentences({ args, tools }: RuleWithTools): string[] {
  return args.flatMap(({ pointer, steps, glob }) => {
    if (glob === undefined || glob.literal !== undefined || glob.matches("")) return []
    const tool = [...tools].find((one) => isNumberAt(one, steps))
    if (tool === undefined) return []
    return `'${pointer}' of ${tool.name} is a number, and the rule compares it with a text pattern: 1e21 is a number too. Write a condition instead, such as { above: 100 }, { below: 0 } or { oneOf: [1, 2] }.`
  })
}

function isNumberAt({ input }: RegisteredTool, steps: readonly string[]): boolean {
  let schema: unknown = input.json
  for (const step of steps) {
    const { properties, items } = fieldsOf(schema)
    schema = Object.hasOwn(fieldsOf(properties), step) ? fieldsOf(properties)[step] : items
  }
  return isNumber(schema)
}

/** A number, or a number that may also be null. */
function isNumber(schema: unknown): boolean {
  const { type, anyOf, oneOf } = fieldsOf(schema)
  const forms = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  if (forms !== undefined) {
    const others = forms.filter((form) => fieldsOf(form)["type"] !== "null")
    return others.length > 0 && others.every(isNumber)
  }
  const types = [type].flat().filter((one) => one !== "null")
  return types.length > 0 && types.every((one) => one === "number" || one === "integer")
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}
}
