import type { CliCommand } from "./cli-command.ts"
import { nearestName } from "../../../lib/nearest-name.ts"
import { shellWord } from "../../../lib/shell-word.ts"

/** The command line was used wrongly. Exit code 2. The message is followed by where the command's help is. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}

/** The error for something that the command needs and cannot use, for example the data folder. Exit code 2. */
export class CannotOpen extends Error {
  override readonly name = "CannotOpen"
}

/** The person or program may not do this. Exit code 3. */
export class NotAllowed extends Error {
  override readonly name = "NotAllowed"
}

/** The command cannot be done. Exit code 1; `code` is for programs. */
export class CannotDo extends Error {
  override readonly name = "CannotDo"
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The error for an unknown command, with the nearest existing one. */
export function unknownCommand(word: string, above: CliCommand): UsageError {
  const known = above.commands.map((command) => command.name())
  const before = wordsOf(above).join(" ")
  const guess = nearestName(word, known)
  const help = guess ? `Did you mean '${before} ${guess}'?` : `Commands: ${known.join(", ")}.`
  return new UsageError(`'${before} ${word}' is not a command. ${help}`)
}

/** The words of a command: `qm roles create`. */
export function wordsOf(command: CliCommand): string[] {
  return command.parent === null ? [command.name()] : [...wordsOf(command.parent), command.name()]
}

/** The error for an unknown name, with the nearest existing one. */
export function noSuch(kind: string, name: string, known: readonly string[]): CannotDo {
  const guess = nearestName(name, known)
  const plural = kind === "person" ? "people" : `${kind}s`
  const help = guess === undefined ? `'qm ${plural} list' shows all ${plural}.` : `Did you mean '${guess}'?`
  return new CannotDo(`${kind}_not_found`, `There is no ${kind} '${name}'. ${help}`)
}

/** The error for an id prefix that matches several ids. */
export function ambiguousId(beginning: string, ids: readonly string[]): CannotDo {
  const shown = ids.slice(0, 10).join(", ")
  const more = ids.length > 10 ? ", …" : ""
  return new CannotDo("ambiguous_id", `Several ids begin with '${beginning}': ${shown}${more}. Give more characters.`)
}

/** Adds `list`, which also runs when no subcommand is given. A word after it is reported as an unknown subcommand. */
export function listCommand(noun: CliCommand, what: string): CliCommand {
  return noun
    .command("list", { isDefault: true })
    .description(`list ${what}; '${wordsOf(noun).join(" ")}' alone does the same`)
    .allowExcessArguments()
    .hook("preAction", (_, { args: [word] }) => {
      if (word !== undefined) throw unknownCommand(word, noun)
    })
}

/** Turns the parser's message, `error: unknown option '--jsn'` and a guess in brackets, into sentences. */
export function parserSentence(message: string): string {
  const [problem = "", guess] = message.replace(/^error: /, "").split("\n")
  const sentence = problem.charAt(0).toUpperCase() + problem.slice(1).replace(/\.?$/, ".")
  return guess ? `${sentence} ${guess.replace(/[()]/g, "")}` : sentence
}

/** For a command that takes a tool's input: an unknown option that must be a parameter, as in `qm call read_file --path x`. */
export function dashedParameter(message: string, argv: readonly string[], command: CliCommand): string | undefined {
  const takesInput = command.registeredArguments.some((argument) => argument.name() === "input")
  const [, option = "", key = "", given] = /unknown option '(--([^'=]+)(?:=([^']*))?)'/s.exec(message) ?? []
  const guess = /Did you mean --(\w)/.exec(message)?.[1]
  if (!takesInput || key === "" || guess === key[0]) return undefined
  const next = argv[argv.indexOf(option) + 1]
  const value = given ?? (next === undefined || next.startsWith("--") ? "value" : next)
  return `Unknown option '--${key}'. A parameter of the tool has no dashes: write ${key}=${shellWord(value)}.`
}

/** The error with a last sentence that says where the help of the command is, unless the message names a command itself. */
export function withHelp(error: UsageError, command: CliCommand): UsageError {
  if (/'qm [^']*'/.test(error.message)) return error
  return new UsageError(`${error.message} '${wordsOf(command).join(" ")} --help' shows how to use it.`)
}

/** Turns the error of a file or folder that may not be written into a sentence; `next` says what to do. */
export async function orCannotWrite<T>(work: () => T | Promise<T>, next: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code = "", path } = error as NodeJS.ErrnoException
    if (!["EACCES", "EPERM", "EROFS"].includes(code)) throw error
    throw new CannotDo("cannot_write", `You may not write ${path} (${code}). ${next}`)
  }
}

/** Refuses an empty id, which as a prefix would match any single item. */
export function requireId(text: string): string {
  if (text.trim() !== "") return text
  throw new UsageError("The id is empty. Give the id or its first characters.")
}

/** The id of something new: the argument, or --id as earlier versions had it. */
export function newIdFrom(given: string | undefined, { id }: { id?: string }, kind: string): string {
  const [only, second] = [given, id].filter((each) => each !== undefined)
  if (second !== undefined) throw new UsageError("The id is given twice. Leave out --id.")
  if (only !== undefined) return only
  throw new UsageError(`Give the id of the new ${kind}.`)
}

/** Parses an option's whole number above 0. */
export function wholeNumberFlag(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d+$/.test(text) && value > 0 && Number.isSafeInteger(value)) return value
  throw new UsageError(`${flag} takes a whole number above 0, and '${text}' is none.`)
}

/** The configuration keys set by `--set key=value` and `--data`. */
export function configOverrides(given: readonly string[], data: string | undefined): Record<string, string> {
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

/** Parses an option's number. */
export function numberFlag(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() !== "" && Number.isFinite(value)) return value
  throw new UsageError(`${flag} takes a number, and '${text}' is none.`)
}

/** Splits `a,b` into a list without empty names. */
export function commaList(text: string | undefined): string[] | undefined {
  return text
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
}

/** Parses an option whose value is one of a few words. */
export function choiceFlag<Word extends string>(flag: string, text: string | undefined, words: readonly Word[]) {
  if (text === undefined) return undefined
  const found = words.find((word) => word === text)
  if (found !== undefined) return found
  const guess = nearestName(text, words)
  const help = guess === undefined ? "" : ` Did you mean '${guess}'?`
  throw new UsageError(`${flag} takes one of ${words.join(", ")}, and '${text}' is none of them.${help}`)
}

/** Collects the values of an option that can be repeated. */
export function repeated(value: string, before: string[] = []): string[] {
  return [...before, value]
}

/** Turns a plain Error of `work`, whose message is for the person, into a CannotDo. */
export async function orCannotDo<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && ["Error", "TypeError"].includes(error.name))
      throw new CannotDo("refused", error.message)
    throw error
  }
}
