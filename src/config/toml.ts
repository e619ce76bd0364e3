import { parse, stringify } from "smol-toml"
import { canonicalJson } from "../lib/canonical-json.ts"
import { isObject } from "../lib/is-object.ts"

/** The text is not TOML, or cannot be changed without touching more than our own table. */
export class TomlError extends Error {
  override readonly name = "TomlError"
}

export function readToml(text: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (error) {
    throw new TomlError(error instanceof Error ? error.message.split("\n")[0] : String(error))
  }
}

/**
 * The text with this table, every other byte as it was. The result is parsed again: a file in which the table is written in
 * another way than as a section of its own is refused.
 */
export function withTable(text: string, path: readonly [string, string], entry: Record<string, unknown>): string {
  const before = readToml(text)
  const section = stringify({ [path[0]]: { [path[1]]: entry } })
  const lines = section.split("\n").filter((line) => line !== "" && line !== `[${path[0]}]`)
  const rest = cutTable(text, path)
  const gap = rest === "" || rest.endsWith("\n\n") ? "" : rest.endsWith("\n") ? "\n" : "\n\n"
  return checked(`${rest}${gap}${lines.join("\n")}\n`, changed(before, path, entry))
}

/** The text without this table. */
export function withoutTable(text: string, path: readonly [string, string]): string {
  const before = readToml(text)
  return checked(cutTable(text, path), changed(before, path, undefined))
}

/** Cuts the section of the table and those below it, with the empty lines before. */
function cutTable(text: string, [outer, inner]: readonly [string, string]): string {
  const kept: string[] = []
  let isOurs = false
  for (const line of text.split("\n")) {
    const header = /^\s*\[([^[\]]+)\]\s*(#.*)?$/.exec(line)?.[1]
    if (header !== undefined) isOurs = isBelow(header, outer, inner)
    else if (/^\s*\[\[/.test(line)) isOurs = false
    if (!isOurs) kept.push(line)
    else if (header !== undefined) while (kept.length > 0 && kept.at(-1)?.trim() === "") kept.pop()
  }
  const rest = kept.join("\n")
  return rest === "" || rest.endsWith("\n") || !text.endsWith("\n") ? rest : `${rest}\n`
}

function isBelow(header: string, outer: string, inner: string): boolean {
  const steps = header.split(".").map((step) => step.trim().replaceAll(/^["']|["']$/g, ""))
  return steps[0] === outer && steps[1] === inner
}

function changed(before: Record<string, unknown>, [outer, inner]: readonly [string, string], entry: unknown) {
  const { [inner]: _old, ...others } = isObject(before[outer]) ? before[outer] : {}
  const section = entry === undefined ? others : { ...others, [inner]: entry }
  const { [outer]: _section, ...rest } = before
  return Object.keys(section).length === 0 ? rest : { ...rest, [outer]: section }
}

function checked(text: string, wanted: Record<string, unknown>): string {
  const empty = (value: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(value).filter(([, each]) => !isObject(each) || Object.keys(each).length > 0))
  if (canonicalJson(empty(readToml(text))) === canonicalJson(empty(wanted))) return text
  throw new TomlError("its tables are written in a way that cannot be changed here without touching others")
}
