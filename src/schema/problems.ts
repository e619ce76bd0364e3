import { nearestName } from "../lib/nearest-name.ts"

/** The sentences of all validators, as S3 words them. A path is written `a.b[0]`. */
export const missingParameter = (path: string) => `Missing required parameter: ${path}`
export const expectedType = (path: string, expected: string, got: string) =>
  `Parameter '${path}' expected ${expected}, got ${got}`
export const notOneOf = (path: string, values: readonly unknown[]) =>
  `Parameter '${path}' must be one of: ${values.map(valueText).join(", ")}`
export const parameterProblem = (path: string, problem: string) => `Parameter '${path || "input"}' ${problem}`

/** `known` are the names that are allowed there, when the schema lists them. */
export function unknownParameter(path: readonly PropertyKey[], known: readonly string[] | undefined): string {
  return `Unknown parameter '${pathText(path)}'.${suggestion(String(path.at(-1)), known)}`
}

/** Limit of reported problems of one value. */
export const mostProblems = 100

/** The first unknown parameters of an object that has far too many. It is not checked further, which would take long. */
export function manyUnknown(value: unknown, known: readonly string[]): string[] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const unknown: string[] = []
  for (const name in value) {
    if (Object.hasOwn(value, name) && !known.includes(name)) unknown.push(name)
    if (unknown.length > mostProblems)
      return unknown.slice(0, mostProblems).map((one) => unknownParameter([one], known))
  }
  return undefined
}

function suggestion(written: string, known: readonly string[] | undefined): string {
  if (known === undefined) return ""
  const guess = nearestName(written, known)
  if (guess !== undefined) return ` Did you mean '${guess}'?`
  return known.length > 0 ? ` It takes: ${known.join(", ")}.` : " It takes none."
}

function valueText(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}

/** The name of a value's type, as S3 words it: arrays are 'array', null is 'null', NaN is 'NaN'. */
export function typeName(value: unknown): string {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  if (typeof value === "number" && Number.isNaN(value)) return "NaN"
  return typeof value
}

export function pathText(path: readonly PropertyKey[]): string {
  let text = ""
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`
    else text += text === "" ? String(step) : `.${String(step)}`
  }
  return text
}

export function valueAtPath(value: unknown, path: readonly PropertyKey[]): unknown {
  let node = value
  for (const step of path) {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, step)) return undefined
    node = (node as Record<PropertyKey, unknown>)[step]
  }
  return node
}
