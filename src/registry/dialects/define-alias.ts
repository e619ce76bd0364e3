import type { z } from "zod"
import type { AliasSpec } from "./dialect.ts"
import { failure } from "../../core/ending.ts"

interface Spelled<Shape extends z.ZodType> extends Omit<AliasSpec, "input" | "toInput" | "toResult"> {
  input: () => Shape
  toInput(given: z.infer<Shape>): unknown
  toResult?(result: never, input: never): unknown
}

/** An alias whose functions know what its schema lets through. */
export function defineAlias<Shape extends z.ZodType>(spec: Spelled<Shape>): AliasSpec {
  return spec as unknown as AliasSpec
}

/** The value of a parameter that has several spellings. Two that say different things are a mistake. */
export function parameterValue<T>(spellings: Readonly<Record<string, T | undefined>>): T | undefined {
  const given = Object.entries(spellings).filter(([, value]) => value !== undefined)
  const [first] = given
  const other = given.find(([, value]) => value !== first?.[1])
  if (first !== undefined && other !== undefined) {
    throw failure(`'${first[0]}' and '${other[0]}' mean the same and say different things. Give one of them.`)
  }
  return first?.[1]
}

/** The same for a parameter that must be there; its first spelling is the one that is asked for. */
export function requiredParameterValue<T>(spellings: Readonly<Record<string, T | undefined>>): T {
  const value = parameterValue(spellings)
  if (value === undefined) throw failure(`Missing required parameter: ${Object.keys(spellings)[0]}`)
  return value
}

/** Refuses inputs that the tool itself would refuse too, in the names that callers of the alias know. */
export function failIf(isWrong: boolean, sentence: string): void {
  if (isWrong) throw failure(sentence)
}

/** Without the keys whose value is undefined. */
export function withoutUndefined(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))
}
