import type { Unprovable, Word } from "./shell-line.ts"

/** The options of a program that do not change what it reads, writes and runs. All others are refused. */
export interface OptionTable {
  /** Letters without a value; `*` for any. */
  readonly letters?: string
  /** Letters that take a value, in the same word or the next. */
  readonly valued?: string
  /** Letters with an optional value in the same word. */
  readonly attached?: string
  /** Names after `--`, which may have a value after `=`; `*` for any. */
  readonly names?: string
  /** Names that take a value, after `=` or in the next word. */
  readonly valuedNames?: string
  /** Letters and names whose value is a file that is read. */
  readonly reading?: string
  /** True if `-5` is a count. */
  readonly counts?: boolean
  /** No option of the program writes or runs anything, so a pattern that could expand to an option is harmless. */
  readonly patterns?: boolean
}

export interface ParsedOptions {
  readonly operands: readonly Word[]
  /** The letters and names that are set. */
  readonly given: ReadonlySet<string>
  readonly reads: readonly Word[]
  /** The values of options, each with its letter or name. */
  readonly values: readonly (readonly [string, string])[]
  /** True if `--` ended the options. */
  readonly ended: boolean
}

/** Separates options from operands by the table. Abbreviated names are refused. */
export function readOptions(args: readonly Word[], table: OptionTable): ParsedOptions | Unprovable {
  const operands: Word[] = []
  const given = new Set<string>()
  const reads: Word[] = []
  const values: [string, string][] = []
  const parsed = parsedTable(table)
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!
    const { value } = word
    if (value === "--") return { operands: [...operands, ...args.slice(at + 1)], given, reads, values, ended: true }
    if (word.glob === 0 && table.letters !== "*" && !(table.patterns === true && /[^*?/]/.test(value)))
      return { because: `the pattern '${value}' could stand for an option` }
    if (!value.startsWith("-") || value === "-") {
      operands.push(word)
      continue
    }
    const option = value.startsWith("--") ? readName(word, parsed) : readLetters(word, parsed, table.counts === true)
    if (option === undefined) return { because: `the option '${value}' is not known to be harmless` }
    for (const name of option.names) given.add(name)
    if (option.valueFor === undefined) continue
    const next = option.value === undefined ? args[++at] : { value: option.value, glob: -1 }
    if (next === undefined) return { because: `the option '${value}' has no value` }
    if (next.glob !== -1) return { because: `the value of '${value}' is a pattern` }
    // If the table were wrong, this would be an unchecked option.
    if (option.value === undefined && /^-\D/.test(next.value))
      return { because: `it is not clear whether '${next.value}' is an option` }
    values.push([option.valueFor, next.value])
    if (parsed.reading.has(option.valueFor)) reads.push(next)
  }
  return { operands, given, reads, values, ended: false }
}

interface ParsedTable {
  letters: string
  valued: string
  attached: string
  names: ReadonlySet<string> | "*"
  valuedNames: ReadonlySet<string>
  reading: ReadonlySet<string>
}

interface Option {
  readonly names: readonly string[]
  /** The letter or name that takes a value. */
  readonly valueFor?: string
  readonly value?: string
}

const parsedTables = new WeakMap<OptionTable, ParsedTable>()

function parsedTable(table: OptionTable): ParsedTable {
  const cached = parsedTables.get(table)
  if (cached !== undefined) return cached
  const { letters = "", valued = "", attached = "", names = "", valuedNames = "", reading = "" } = table
  const parsed = {
    letters,
    valued,
    attached,
    names: names === "*" ? ("*" as const) : setOf(names),
    valuedNames: setOf(valuedNames),
    reading: setOf(reading),
  }
  parsedTables.set(table, parsed)
  return parsed
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" ").filter((name) => name !== ""))
}

function readName({ value, glob }: Word, { names, valuedNames }: ParsedTable): Option | undefined {
  const equals = value.indexOf("=")
  // A pattern after the `=` stays part of its option, whatever it expands to.
  if (glob !== -1 && (equals === -1 || glob < equals)) return undefined
  const name = value.slice(2, equals === -1 ? undefined : equals)
  if (valuedNames.has(name))
    return { names: [name], valueFor: name, value: equals === -1 ? undefined : value.slice(equals + 1) }
  return names === "*" || names.has(name) ? { names: [name] } : undefined
}

function readLetters(
  { value, glob }: Word,
  { letters, valued, attached }: ParsedTable,
  counts: boolean,
): Option | undefined {
  if (glob !== -1) return undefined
  if (counts && /^-\d+$/.test(value)) return { names: ["count"] }
  const names: string[] = []
  for (let at = 1; at < value.length; at++) {
    const letter = value[at]!
    names.push(letter)
    if (attached.includes(letter)) return { names }
    if (valued.includes(letter)) {
      const rest = value.slice(at + 1)
      return { names, valueFor: letter, value: rest === "" ? undefined : rest }
    }
    if (letters !== "*" && !letters.includes(letter)) return undefined
  }
  return { names }
}
