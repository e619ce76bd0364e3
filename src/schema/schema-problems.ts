import type { z } from "zod"
import { nearestName } from "../lib/nearest-name.ts"
import { issueSentence, issuesOfForm } from "./issue-sentence.ts"
import { pathText, valueAtPath } from "./problems.ts"

/** A file that is checked, to report its problems. */
export interface CheckedFile {
  /** Its name in sentences: `script`. */
  noun: string
  value: unknown
  /** The known keys, by the key they stand under. */
  known: Readonly<Record<string, readonly string[]>>
}

export interface SchemaProblem {
  path: readonly (string | number)[]
  /** True if it is about the key there, or about the value. */
  what: "key" | "value"
  sentence: string
}

/** Every problem that a schema found in a file, as a sentence with its place. */
export function schemaProblems(issues: readonly z.core.$ZodIssue[], file: CheckedFile): SchemaProblem[] {
  // Beside a misspelt key, missing or unknown keys need no second problem.
  const misspelt = new Set(issues.flatMap(({ code, path }) => (code === "unrecognized_keys" ? [pathText(path)] : [])))
  return issues
    .filter(({ code, path }) => code !== "custom" || !misspelt.has(pathText(path)))
    .flatMap((issue) => problemsOf(issue, file))
}

function problemsOf(issue: z.core.$ZodIssue, file: CheckedFile): SchemaProblem[] {
  const path = issue.path as (string | number)[]
  if (issue.code === "invalid_union") {
    const inner = issuesOfForm(issue)
    if (inner !== undefined) return inner.flatMap((one) => problemsOf({ ...one, path: [...path, ...one.path] }, file))
  }
  if (issue.code !== "unrecognized_keys") {
    const name = path.length === 0 ? `The ${file.noun}` : `'${pathText(path)}'`
    return [{ path, what: "value", sentence: `${name} ${issueSentence(issue, valueAtPath(file.value, path))}` }]
  }
  const names = file.known[path.findLast((part) => typeof part === "string") ?? ""] ?? []
  return issue.keys.map((key) => {
    const guess = nearestName(key, names)
    const help = guess === undefined ? `Known here: ${names.join(", ")}.` : `Did you mean '${guess}'?`
    const whole = [...path, key]
    return { path: whole, what: "key", sentence: `'${pathText(whole)}' is not a key of a ${file.noun}. ${help}` }
  })
}
