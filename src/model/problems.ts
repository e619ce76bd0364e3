import { nearest } from "./nearest.ts"

/** The sentences every validator uses, in S3's words. A path is written `a.b[0]`. */
export const missing = (path: string) => `Missing required parameter: ${path}`
export const expectedType = (path: string, expected: string, got: string) =>
  `Parameter '${path}' expected ${expected}, got ${got}`
export const notOneOf = (path: string, values: readonly unknown[]) =>
  `Parameter '${path}' must be one of: ${values.map(String).join(", ")}`
export const otherwise = (path: string, problem: string) => `Parameter '${path || "input"}' ${problem}`

export function unknownParameter(path: string, known: readonly string[]): string {
  const guess = nearest(path, known)
  const help = guess ? `Did you mean '${guess}'?` : known.length > 0 ? `It takes: ${known.join(", ")}.` : "It takes none."
  return `Unknown parameter '${path}'. ${help}`
}

/** What S3 calls a value's type: arrays are 'array', null is 'null', NaN is 'NaN'. */
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

export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value
  for (const step of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined
    here = (here as Record<PropertyKey, unknown>)[step]
  }
  return here
}
