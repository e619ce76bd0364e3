import { nearest } from "./nearest.ts"

/** The sentences every validator uses, in S3's words. A path is written `a.b[0]`. */
export const missing = (path: string) => `Missing required parameter: ${path}`
export const expectedType = (path: string, expected: string, got: string) =>
  `Parameter '${path}' expected ${expected}, got ${got}`
export const notOneOf = (path: string, values: readonly unknown[]) =>
  `Parameter '${path}' must be one of: ${values.map(valueText).join(", ")}`
export const otherwise = (path: string, problem: string) => `Parameter '${path || "input"}' ${problem}`

/** `known` are the names at that place, when they can be told. */
export function unknownParameter(path: readonly PropertyKey[], known: readonly string[] | undefined): string {
  return `Unknown parameter '${pathText(path)}'.${whatElse(String(path.at(-1)), known)}`
}

function whatElse(written: string, known: readonly string[] | undefined): string {
  if (known === undefined) return ""
  const guess = nearest(written, known)
  if (guess !== undefined) return ` Did you mean '${guess}'?`
  return known.length > 0 ? ` It takes: ${known.join(", ")}.` : " It takes none."
}

function valueText(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value)
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
