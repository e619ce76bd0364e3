import { isObject } from "../lib/is-object.ts"
import { issueSentence, issuesOfForm } from "../schema/issue-sentence.ts"
import { nearestName } from "../lib/nearest-name.ts"
import { pathText, valueAtPath } from "../schema/problems.ts"
import type { z } from "zod"
import { serverFlaws } from "./mcp-servers.ts"
import { modelFlaws } from "./models-schema.ts"
import { allKeys, isSection, keysInAnyForm, schemaAt, type Path } from "./schema-path.ts"
import { configSchema, type Config } from "./schema.ts"

export interface Flaw {
  path: Path
  /** True if the key or its value is wrong. */
  what: "key" | "value"
  sentence: string
}

/** Expands short forms: an empty section becomes `{}`, `data: folder` becomes `data.dir`. */
export function expandShortForms(value: unknown): unknown {
  const full = fillSections(value, [])
  return isObject(full) && typeof full["data"] === "string" ? { ...full, data: { dir: full["data"] } } : full
}

/** Validates one layer. Every key is optional or inside a list, so valid layers are also valid when merged. */
export function checkConfig(value: unknown): { config: Config; flaws: Flaw[] } {
  const parsed = configSchema.safeParse(value)
  if (parsed.success) return { config: parsed.data, flaws: [] }
  return { config: {}, flaws: parsed.error.issues.flatMap((issue) => flawsOf(issue, value)) }
}

/** Throws a TypeError with every problem of a complete configuration. */
export function refuseBadConfig(value: unknown): void {
  // Compiling the whole schema takes milliseconds, and nothing can be wrong with nothing.
  if (isObject(value) && Object.keys(value).length === 0) return
  const { config, flaws } = checkConfig(value)
  const found = flaws.length > 0 ? flaws : mergedConfigFlaws(config)
  if (found.length === 0) return
  throw new TypeError(`The configuration cannot be used: ${found.map(({ sentence }) => sentence).join(" ")}`)
}

/** Problems that only show when all layers are merged. Call it when `checkConfig` finds nothing. */
export function mergedConfigFlaws(config: Config): { key: string; sentence: string }[] {
  const { mode, sandbox } = config.tools?.shell ?? {}
  const others = [...serverFlaws(config), ...modelFlaws(config.models)]
  if (mode !== "sandbox" || sandbox !== "off") return others
  const key = "tools.shell.mode"
  const sentence = `'${key}' is sandbox, and 'tools.shell.sandbox' is off, so commands would run without a sandbox. Set tools.shell.sandbox to auto or required, or the mode to ask.`
  return [{ key, sentence }, ...others]
}

function fillSections(value: unknown, path: Path): unknown {
  if (!isSection(schemaAt(path))) return value
  if (value === null) return {}
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, fillSections(part, [...path, key])]))
}

function flawsOf(issue: z.core.$ZodIssue, value: unknown): Flaw[] {
  const path = issue.path as (string | number)[]
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...path, key], what: "key", sentence: unknownKey(path, key) }))
  }
  if (issue.code === "invalid_union") {
    const inner = issuesOfForm(issue)
    if (inner !== undefined) return inner.flatMap((each) => flawsOf({ ...each, path: [...path, ...each.path] }, value))
  }
  const key = path.length === 0 ? "The configuration" : `'${pathText(path)}'`
  return [{ path, what: "value", sentence: `${key} ${issueSentence(issue, valueAtPath(value, path))}` }]
}

/**
 * The nearest key of this section, otherwise of the only other section that has it: `rolez` is meant to be `org.roles`.
 */
function nearestKey(path: Path, key: string): Path | undefined {
  const all = allKeys()
  const unique = all.filter((one) => all.filter((other) => other.at(-1) === one.at(-1)).length === 1)
  const here = keysInAnyForm(path)
  // In a short word, two other letters make another word.
  const elsewhere = unique.map((other) => other.at(-1)!).filter((other) => key.length > 4 || other === key)
  const guess = nearestName(key, [...here, ...elsewhere])
  if (guess === undefined) return undefined
  return here.includes(guess) ? [...path, guess] : unique.find((other) => other.at(-1) === guess)
}

function unknownKey(path: Path, key: string): string {
  const full = pathText([...path, key])
  const meant = nearestKey(path, key)
  const known = keysInAnyForm(path)
  const others = known.length === 0 ? "" : ` Known here: ${known.join(", ")}.`
  const help = meant ? ` Did you mean '${pathText(meant)}'?` : others
  return `'${full}' is not a key of the configuration.${help}`
}
