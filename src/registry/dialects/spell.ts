import type { z } from "zod"
import type { AliasSpec } from "../../model/dialect.ts"
import { failure } from "../../model/ending.ts"

interface Spelled<Shape extends z.ZodType> extends Omit<AliasSpec, "input" | "toInput" | "toResult"> {
  input: Shape
  toInput(given: z.infer<Shape>): unknown
  toResult?(result: never, input: never): unknown
  /** What its callers call what the tool's failures speak of. */
  names?: Readonly<Record<string, string>>
}

/** An alias whose functions know what its schema lets through. */
export function aliasOf<Shape extends z.ZodType>({ names, ...spec }: Spelled<Shape>): AliasSpec {
  const alias = spec as unknown as AliasSpec
  return names === undefined ? alias : naming(alias, names)
}

/** The aliases of a dialect, whose failures call the other tools by its names. */
export function speaking(aliases: readonly AliasSpec[]): AliasSpec[] {
  const names = Object.fromEntries(aliases.map(({ tool, name }) => [tool, name]))
  // Only the tool itself takes an encoding when it writes.
  return aliases.map((alias) => naming(alias, { ...names, "write_file and encoding": "write_file and encoding" }))
}

function naming(alias: AliasSpec, names: Readonly<Record<string, string>>): AliasSpec {
  const { toError = (sentence: string) => sentence } = alias
  return { ...alias, toError: (sentence, toolCode) => toError(renamed(sentence, names), toolCode) }
}

/** The sentence with other names. Lines of files, what a command printed, and paths are quotes and stay as they are. */
function renamed(sentence: string, names: Readonly<Record<string, string>>): string {
  const [printed] = /\n(?:It had printed|On stderr)[^\n]*:\n[^]*$/.exec(sentence) ?? [""]
  const own = sentence.slice(0, sentence.length - printed.length)
  const pattern = new RegExp(Object.keys(names).sort(byLength).map(wholeWord).join("|"), "g")
  const lines = own.split("\n").map((line) => {
    return /^(\d+: |\s)/.test(line) ? line : line.replace(pattern, (name) => names[name] ?? name)
  })
  return lines.join("\n") + printed
}

function byLength(one: string, other: string): number {
  return other.length - one.length
}

function wholeWord(name: string): string {
  const before = /^\w/.test(name) ? "(?<![\\w./\\\\'\"-])" : ""
  return `${before}${name}(?![\\w/\\\\'"(-]|\\.\\w)`
}

/** The value of a parameter that has several spellings. Two that say different things are a mistake. */
export function oneOf<T>(spellings: Readonly<Record<string, T | undefined>>): T | undefined {
  const given = Object.entries(spellings).filter(([, value]) => value !== undefined)
  const [first] = given
  const other = given.find(([, value]) => value !== first?.[1])
  if (first !== undefined && other !== undefined) {
    throw failure(`'${first[0]}' and '${other[0]}' mean the same and say different things. Give one of them.`)
  }
  return first?.[1]
}

/** The same for a parameter that must be there; its first spelling is the one that is asked for. */
export function neededOf<T>(spellings: Readonly<Record<string, T | undefined>>): T {
  const value = oneOf(spellings)
  if (value === undefined) throw failure(`Missing required parameter: ${Object.keys(spellings)[0]}`)
  return value
}

/** Without the keys whose value is undefined. */
export function withoutUndefined(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))
}
