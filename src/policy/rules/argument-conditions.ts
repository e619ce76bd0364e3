import { readGlob, type Glob } from "../../lib/glob.ts"
import { parseJsonPointer } from "../../lib/json-pointer.ts"
import type { ArgumentCondition, ArgumentValue } from "../../core/rule.ts"
import { textMatches } from "./value-texts.ts"

/** A compiled condition on one value of the input. */
export interface ArgumentPattern {
  readonly pointer: string
  readonly steps: readonly string[]
  /** For a text pattern. */
  readonly glob: Glob | undefined
  /** `loosens`: the rule allows. Then only a value that certainly fits counts; otherwise also one that might. */
  holds(value: unknown, loosens: boolean): boolean
}

/** Undefined for a condition that cannot be read. */
export function readArgument(pointer: string, written: string | ArgumentCondition): ArgumentPattern | undefined {
  const steps = parseJsonPointer(pointer)
  if (steps === undefined) return undefined
  if (typeof written === "string") {
    const read = readGlob(written, "text")
    if ("mistake" in read) return undefined
    const { glob } = read
    return { pointer, steps, glob, holds: (value, loosens) => textMatches(value, glob, !loosens) }
  }
  const holds = readCondition(written)
  return holds && { pointer, steps, glob: undefined, holds }
}

/** True if one value that is no list or object fits. */
type Test = (value: Scalar, loosens: boolean) => boolean
type Scalar = ArgumentValue

function readCondition({ above, below, oneOf, not }: ArgumentCondition): ArgumentPattern["holds"] | undefined {
  const tests: Test[] = []
  if (above !== undefined) tests.push(numberTest((value) => value > above))
  if (below !== undefined) tests.push(numberTest((value) => value < below))
  if (oneOf !== undefined) {
    const entries = oneOf.map(readValue)
    if (entries.includes(undefined)) return undefined
    tests.push((value, loosens) => entries.some((entry) => entry!(value, !loosens)))
  }
  const excluded = not === undefined ? [] : [not].flat().map(readValue)
  if (excluded.includes(undefined)) return undefined
  if (not !== undefined) tests.push((value, loosens) => !excluded.some((entry) => entry!(value, loosens)))
  // A missing value is none of those that are excluded. A rule that allows never builds on a missing value.
  const onlyExcludes = tests.length === 1 && not !== undefined
  return (value, loosens) => {
    if (value === undefined) return onlyExcludes && !loosens
    if (isScalar(value)) return tests.every((test) => test(value, loosens))
    if (loosens) return false
    const leaves = leavesOf(value)
    return leaves.length === 0 ? onlyExcludes : leaves.some((leaf) => tests.every((test) => test(leaf, loosens)))
  }
}

/** For a rule that tightens, a text counts as the number it spells, and one that spells none might be any number. */
function numberTest(fits: (value: number) => boolean): Test {
  return (value, loosens) => {
    if (typeof value === "number") return fits(value)
    if (loosens || value === null) return false
    const number = typeof value === "string" ? Number(value.trim() === "" ? NaN : value) : NaN
    return Number.isNaN(number) || fits(number)
  }
}

/** Reports whether a value is the written one. `loosely`: also one of another type that reads the same. */
function readValue(written: ArgumentValue): ((value: Scalar, loosely: boolean) => boolean) | undefined {
  if (typeof written !== "string")
    return (value, loosely) =>
      value === written || (loosely && (String(value) === String(written) || isSameNumber(value, written)))
  const read = readGlob(written, "text")
  return "mistake" in read ? undefined : (value) => textMatches(value, read.glob, false)
}

function isSameNumber(value: Scalar, written: ArgumentValue): boolean {
  return typeof written === "number" && typeof value === "string" && value.trim() !== "" && Number(value) === written
}

function isScalar(value: unknown): value is Scalar {
  return typeof value !== "object" || value === null
}

function leavesOf(value: unknown): Scalar[] {
  if (value === undefined) return []
  return isScalar(value) ? [value] : Object.values(value as object).flatMap(leavesOf)
}
