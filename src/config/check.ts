import { issueSentence } from "../model/issue-sentence.ts"
import { nearest } from "../model/nearest.ts"
import { pathText, valueAt } from "../model/problems.ts"
import type { z } from "zod"
import { laterKeys } from "./later.ts"
import { serverFlaws } from "./mcp-servers.ts"
import { isObject } from "./merge.ts"
import { isSection, keysAt, schemaAt, type Path } from "./schema-path.ts"
import { configSchema, type Config } from "./schema.ts"

export interface Flaw {
  path: Path
  /** The key itself is wrong, or what stands there. */
  what: "key" | "value"
  sentence: string
}

/** Brings the short forms into one: a section left empty is an empty section, `data: folder` is `data.dir`. */
export function spellOut(value: unknown): unknown {
  const full = fillSections(value, [])
  return isObject(full) && typeof full["data"] === "string" ? { ...full, data: { dir: full["data"] } } : full
}

/** Judges one layer by itself. Every key is optional or inside a list, so layers that pass also pass merged. */
export function checkConfig(value: unknown): { config: Config; flaws: Flaw[] } {
  const parsed = configSchema.safeParse(value)
  if (parsed.success) return { config: parsed.data, flaws: [] }
  return { config: {}, flaws: parsed.error.issues.flatMap((issue) => flawsOf(issue, value)) }
}

/** Throws a TypeError with everything that is wrong with a whole configuration. */
export function refuseBadConfig(value: unknown): void {
  const { config, flaws } = checkConfig(value)
  const found = flaws.length > 0 ? flaws : serverFlaws(config)
  if (found.length === 0) return
  throw new TypeError(`The configuration cannot be used: ${found.map(({ sentence }) => sentence).join(" ")}`)
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
    const inner = issueOfForm(issue)
    if (inner !== undefined) return inner.flatMap((each) => flawsOf({ ...each, path: [...path, ...each.path] }, value))
  }
  const key = path.length === 0 ? "The configuration" : `'${pathText(path)}'`
  return [{ path, what: "value", sentence: `${key} ${issueSentence(issue, valueAt(value, path))}` }]
}

/** What is wrong by the one form that the value has; undefined when it has none of them. */
function issueOfForm({ errors }: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] | undefined {
  return errors.find((issues) => !issues.some(({ code, path }) => code === "invalid_type" && path.length === 0))
}

function unknownKey(path: Path, key: string): string {
  const full = pathText([...path, key])
  const purpose = Object.hasOwn(laterKeys, full) ? laterKeys[full] : undefined
  if (purpose) return `'${full}' (${purpose}) is a key that this version does not have yet. Remove it.`
  const guess = nearest(key, keysAt(path))
  const help = guess ? `Did you mean '${pathText([...path, guess])}'?` : `Known here: ${keysAt(path).join(", ")}.`
  return `'${full}' is not a key of the configuration. ${help}`
}
