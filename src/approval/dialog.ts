import type * as Prompts from "@clack/prompts"
import { oneLine, ourRows } from "./card-rows.ts"
import { closingWords, withOwnSignal } from "./closing.ts"
import { pressKey, type Keyboard } from "./keys.ts"
import { paintFor, type Paint } from "../model/paint.ts"

export interface Terminal extends Keyboard {
  /** Answers yes for tools that are not sensitive, where nothing else needs a person, without asking. */
  yes?: boolean
  /** Who sits there, where that is known. */
  by?: string
  /** Where NO_COLOR, VISUAL and EDITOR are looked up; without it, the environment of the process. */
  env?: Readonly<Record<string, string | undefined>>
}

/** A terminal while one dialog has it. */
export interface Screen {
  terminal: Terminal
  env: Readonly<Record<string, string | undefined>>
  paint: Paint
  columns: number
  /** Aborted when the dialog is to be closed. */
  signal: AbortSignal
}

export function isThere({ input, output }: Terminal): boolean {
  return input.isTTY && output.isTTY
}

const lastTurn = new WeakMap<object, Promise<unknown>>()

/**
 * One dialog at a time in a terminal: a key that answers one must not answer another. Each has a signal of its own,
 * because a prompt that has ended must not hear of an abort: it would take the keyboard from the next one.
 */
export async function alone<T>(
  terminal: Terminal,
  given: AbortSignal,
  work: (screen: Screen) => Promise<T>,
): Promise<T> {
  const env = terminal.env ?? process.env
  const turn = (lastTurn.get(terminal.input) ?? Promise.resolve()).then(() =>
    withOwnSignal(given, async (signal) => {
      const paint = await paintFor(terminal.output, env)
      return work({ terminal, env, paint, columns: terminal.output.columns || 80, signal })
    }),
  )
  lastTurn.set(
    terminal.input,
    turn.catch(() => {}),
  )
  return turn
}

export function say({ terminal }: Screen, lines: readonly string[]): void {
  terminal.output.write(`${lines.join("\n")}\n`)
}

/** A sentence to the person at the terminal. */
export function tell(screen: Screen, sentence: string): void {
  say(screen, ourRows(oneLine(sentence), screen.columns).map(screen.paint.yellow))
}

/**
 * Shows the lines and waits for one of the keys; undefined when the person closes it with escape, Ctrl-C or q, or when
 * somebody has answered elsewhere.
 */
export async function choose<Key extends string>(
  screen: Screen,
  lines: readonly string[],
  title: string,
  words: Readonly<Partial<Record<Key, string>>>,
  escape: string,
): Promise<Key | undefined> {
  const { terminal, paint, columns, signal } = screen
  let isShown = false
  const keys = Object.keys(words) as Key[]
  const menu = [title, ...keys.map((key) => `${key} ${words[key]},`), `escape ${escape}`].join(" ")
  const ask = () => terminal.output.write(`${ourRows(menu, columns).map(paint.cyan).join("\n")}\n> `)
  const key = await pressKey(terminal, signal, {
    keys: [...keys, "q"],
    show() {
      isShown = true
      if (lines.length > 0) say(screen, ["", ...lines])
      ask()
    },
    refuse(sentence) {
      terminal.output.write("\n")
      tell(screen, sentence)
      ask()
    },
  })
  const chosen = keys.find((one) => one === key)
  const ending = key === "closed" ? closingWords(signal) : chosen === undefined ? escape : words[chosen]
  if (isShown) terminal.output.write(`${ending}\n`)
  return chosen
}

/** Uses one of the ready-made prompts; undefined when it was closed. */
export async function prompted<T>(
  { terminal, signal: given }: Screen,
  prompt: (prompts: typeof Prompts, common: Prompts.CommonOptions) => Promise<T | symbol>,
): Promise<T | undefined> {
  const prompts = await import("@clack/prompts")
  return withOwnSignal(given, async (signal) => {
    const answer = await prompt(prompts, { input: terminal.input, output: terminal.output, signal })
    return prompts.isCancel(answer) ? undefined : (answer as T)
  })
}

/** A line that the person writes; undefined when they close the prompt. */
export function written(
  screen: Screen,
  options: { message: string; initialValue?: string; wrong?: (text: string) => string | undefined },
): Promise<string | undefined> {
  const { message, initialValue, wrong } = options
  return prompted<string>(screen, (prompts, common) =>
    prompts.text({
      ...common,
      message,
      ...(initialValue === undefined ? {} : { initialValue }),
      ...(wrong === undefined ? { defaultValue: "" } : { validate: (text = "") => wrong(text) }),
    }),
  )
}
