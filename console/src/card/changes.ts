import { isObject } from "../../../src/lib/is-object.ts"
export interface ChangedField {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))

/** The fields of an input that differ between two revisions. */
export function changedFields(before: unknown, after: unknown): readonly ChangedField[] {
  if (!isObject(before) || !isObject(after)) {
    return shown(before) === shown(after) ? [] : [{ name: "", before: shown(before), after: shown(after) }]
  }
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((name) => ({ name, before: shown(before[name]), after: shown(after[name]) }))
    .filter((field) => field.before !== field.after)
}
