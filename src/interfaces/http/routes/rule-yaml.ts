import { stringify } from "yaml"
import { ruleVerdicts, type Rule } from "../../../core/rule.ts"

/** A rule as it stands below `rules:` in quartermaster.yml. */
export function ruleYaml(written: unknown): string {
  const { because, ...rest } = written as Record<string, unknown>
  const verdicts = Object.entries(rest).filter(([name]) => (ruleVerdicts as readonly string[]).includes(name))
  const rule = { ...Object.fromEntries(verdicts), ...rest, ...(because === undefined ? {} : { because }) }
  return stringify([rule], { lineWidth: 0 })
}

/** A rule as people write it, from one in force. */
export function writtenOf({ id: _id, source: _source, readOnlyHint: _hint, verdict, tool, ...rest }: Rule): object {
  const fields = Object.fromEntries(
    Object.entries(rest)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, Array.isArray(value) && value.length === 1 ? value[0] : value]),
  )
  return { [verdict]: tool, ...fields }
}
