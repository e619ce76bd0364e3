import type { Command } from "commander"
import { nearest } from "../model/nearest.ts"

/** The command line itself was used wrongly: exit 2, and a sentence that says what to do. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}

/** Somebody may not do that here: exit 3, and a sentence that says who may. */
export class NotAllowed extends Error {
  override readonly name = "NotAllowed"
}

/** What was asked for cannot be done: exit 1, a sentence that says why, and a code for programs. */
export class CannotDo extends Error {
  override readonly name = "CannotDo"
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** A command that does not exist, with the nearest that does. */
export function unknownCommand(word: string, above: Command): UsageError {
  const known = above.commands.map((command) => command.name())
  const before = wordsOf(above).join(" ")
  const guess = nearest(word, known)
  const help = guess ? `Did you mean '${before} ${guess}'?` : `There is: ${known.join(", ")}.`
  return new UsageError(`'${before} ${word}' is not a command. ${help}`)
}

function wordsOf(command: Command): string[] {
  return command.parent === null ? [command.name()] : [...wordsOf(command.parent), command.name()]
}

/** There is nothing of that name; what is nearest to it is guessed. */
export function noSuch(kind: string, name: string, known: readonly string[]): CannotDo {
  const guess = nearest(name, known)
  const plural = kind === "person" ? "people" : `${kind}s`
  const help = guess === undefined ? `'qm ${plural} list' shows what there is.` : `Did you mean '${guess}'?`
  return new CannotDo(`${kind}_not_found`, `There is no ${kind} '${name}'. ${help}`)
}

/** More than one id begins so; which they are is said, so that one of them can be chosen. */
export function severalBegin(beginning: string, ids: readonly string[]): CannotDo {
  const shown = ids.slice(0, 10).join(", ")
  const more = ids.length > 10 ? ", …" : ""
  return new CannotDo(
    "ambiguous_id",
    `Several ids begin with '${beginning}': ${shown}${more}. Give more of the one you mean.`,
  )
}

/** `list`, which is also what a noun alone means; a word behind it that nobody knows is a misspelt command. */
export function listCommand(noun: Command): Command {
  return noun
    .command("list", { isDefault: true })
    .description("list them")
    .allowExcessArguments()
    .hook("preAction", (_, { args: [word] }) => {
      if (word !== undefined) throw unknownCommand(word, noun)
    })
}

/** What the parser found wrong, as a sentence: it writes `error: unknown option '--jsn'` and a guess in brackets. */
export function parserSentence(message: string): string {
  const [problem = "", guess] = message.replace(/^error: /, "").split("\n")
  const sentence = problem.charAt(0).toUpperCase() + problem.slice(1).replace(/\.?$/, ".")
  const help = guess ? guess.replace(/[()]/g, "") : "Run 'qm help' to see how it is used."
  return `${sentence} ${help}`
}

/** The beginning of an id. An empty one would name whatever there is only one of. */
export function idOf(text: string): string {
  if (text.trim() !== "") return text
  throw new UsageError("The id is empty. Give it, or a unique beginning of it.")
}

/** A flag's whole number. */
export function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d+$/.test(text) && value > 0 && Number.isSafeInteger(value)) return value
  throw new UsageError(`${flag} takes a whole number above 0, and '${text}' is none.`)
}

/** `--set key=value`, as the configuration takes it. */
export function settings(given: readonly string[], data: string | undefined): Record<string, string> {
  const pairs = given.map((text): [string, string] => {
    const at = text.indexOf("=")
    if (at < 1)
      throw new UsageError(`--set takes key=value, for example --set tools.timeout=5000, and '${text}' is not that.`)
    return [text.slice(0, at), text.slice(at + 1)]
  })
  if (data !== undefined) pairs.push(["data.dir", data])
  const twice = pairs.find(([key], index) => pairs.findIndex(([other]) => other === key) !== index)
  if (twice !== undefined) throw new UsageError(`'${twice[0]}' is set twice. Keep one of them.`)
  return Object.fromEntries(pairs)
}

/** A flag's number, whole or not, also below 0. */
export function number(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() !== "" && Number.isFinite(value)) return value
  throw new UsageError(`${flag} takes a number, and '${text}' is none.`)
}

/** `a,b` as a list without empty names; an empty text is an empty list. */
export function commaList(text: string | undefined): string[] | undefined {
  return text
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
}

/** A flag whose value is one of a few words. */
export function oneOf<Word extends string>(flag: string, text: string | undefined, words: readonly Word[]) {
  if (text === undefined) return undefined
  const found = words.find((word) => word === text)
  if (found !== undefined) return found
  throw new UsageError(`${flag} takes one of ${words.join(", ")}, and '${text}' is none of them.`)
}

/** Collects a flag that can be repeated. */
export function repeated(value: string, before: string[] = []): string[] {
  return [...before, value]
}

/** Waits for something that is refused by a plain error with a sentence for the person. */
export async function expected<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && ["Error", "TypeError"].includes(error.name))
      throw new CannotDo("refused", error.message)
    throw error
  }
}
