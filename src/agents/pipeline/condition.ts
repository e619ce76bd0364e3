import { canonicalJson } from "../../lib/canonical-json.ts"
import { testNames, type Condition, type StepStatus, type TestName } from "./definition.ts"
import { readReference, type Lookup } from "./references.ts"

/** The endings of the steps that a condition is about. */
export interface Facts {
  statusOf(step: string): StepStatus | undefined
  lookup: Lookup
}

/** Reports whether a condition is true; or why that must not be told. */
export function judge(condition: Condition, facts: Facts): boolean | { refused: string } {
  const { step, $from, not, all, any } = condition
  if (step !== undefined) return facts.statusOf(step) === condition.is
  if ($from !== undefined) return judgeValue(condition, $from, facts)
  if (not !== undefined) {
    const judged = judge(not, facts)
    return typeof judged === "boolean" ? !judged : judged
  }
  const judged = (all ?? any ?? []).map((each) => judge(each, facts))
  const refused = judged.find((each) => typeof each === "object")
  if (refused !== undefined) return refused
  return all === undefined ? judged.includes(true) : !judged.includes(false)
}

function judgeValue(condition: Condition, text: string, { lookup }: Facts): boolean | { refused: string } {
  const reference = readReference(text)
  const found = reference === undefined ? { missing: "" } : lookup({ ...reference, text })
  if ("refused" in found) return found
  const { exists, above, below } = condition
  if (exists !== undefined) return "value" in found === exists
  if ("missing" in found) return false
  const { value } = found
  if (above !== undefined) return typeof value === "number" && value > above
  if (below !== undefined) return typeof value === "number" && value < below
  if ("contains" in condition) return contains(value, condition.contains)
  return isSame(value, condition.equals)
}

function contains(value: unknown, part: unknown): boolean {
  if (Array.isArray(value)) return value.some((each) => isSame(each, part))
  return typeof value === "string" && typeof part === "string" && value.includes(part)
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one) === canonicalJson(other)
}

/** A condition in words: `find#/total above 0 and not (step fetch is failed)`. */
export function conditionText(condition: Condition): string {
  const { step, is, $from, not, all, any } = condition
  if (step !== undefined) return `step ${step} is ${is}`
  if ($from !== undefined) {
    const test = testNames.find((name) => name in condition)!
    return `${$from} ${wordOf[test]} ${JSON.stringify(condition[test])}`
  }
  if (not !== undefined) return `not (${conditionText(not)})`
  return (all ?? any ?? []).map((each) => conditionText(each)).join(all === undefined ? " or " : " and ")
}

const wordOf: Readonly<Record<TestName, string>> = {
  equals: "equals",
  contains: "contains",
  above: "above",
  below: "below",
  exists: "exists:",
}
