import type * as Prompts from "@clack/prompts"
import { oneLine, trustedRows } from "./card-rows.ts"
import { closeReasonText, withOwnSignal } from "./dialog-signal.ts"
import { waitForKey, type Keyboard } from "./keys.ts"
import { terminalStyleFor, type TerminalStyle } from "../lib/terminal-style.ts"

export interface Terminal extends Keyboard {
  /** Approves without asking: tools that are not sensitive, unless a rule demands a person. */
  yes?: boolean
  /** Who sits there, if that is known. */
  by?: string
  /** Environment for NO_COLOR, VISUAL and EDITOR; by default that of the process. */
  env?: Readonly<Record<string, string | undefined>>
}

/** A terminal while one dialog has it. */
export interface Screen {
  terminal: Terminal
  env: Readonly<Record<string, string | undefined>>
  paint: TerminalStyle
  columns: number
  /** Aborted when the dialog is to be closed. */
  signal: AbortSignal
}

export function isInteractive({ input, output }: Terminal): boolean {
  return input.isTTY && output.isTTY
}

const lastTurn = new WeakMap<object, Promise<unknown>>()

/**
 * Shows one dialog at a time in a terminal, so that a key never answers two. Each has a signal of its own: an abort after
 * a prompt has ended would take the keyboard from the next one.
 */
export async function withScreen<T>(
  terminal: Terminal,
  outer: AbortSignal,
  work: (screen: Screen) => Promise<T>,
): Promise<T> {
  const env = terminal.env ?? process.env
  const turn = (lastTurn.get(terminal.input) ?? Promise.resolve()).then(() =>
    withOwnSignal(outer, async (signal) => {
      const paint = await terminalStyleFor(terminal.output, env)
      return work({ terminal, env, paint, columns: terminal.output.columns || 80, signal })
    }),
  )
  lastTurn.set(
    terminal.input,
    turn.catch(() => {}),
  )
  return turn
}

export function writeLines({ terminal }: Screen, lines: readonly string[]): void {
  terminal.output.write(`${lines.join("\n")}\n`)
}

/** Writes a sentence for the person at the terminal. */
export function showNotice(screen: Screen, sentence: string): void {
  writeLines(screen, trustedRows(oneLine(sentence), screen.columns).map(screen.paint.yellow))
}

/**
 * Shows the lines and waits for one of the keys; undefined if the person closes it with escape, Ctrl-C or q, or if somebody
 * answered elsewhere.
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
  const ask = () => terminal.output.write(`${trustedRows(menu, columns).map(paint.cyan).join("\n")}\n> `)
  const key = await waitForKey(terminal, signal, {
    keys: [...keys, "q"],
    show() {
      isShown = true
      if (lines.length > 0) writeLines(screen, ["", ...lines])
      ask()
    },
    refuse(sentence) {
      terminal.output.write("\n")
      showNotice(screen, sentence)
      ask()
    },
  })
  const chosen = keys.find((each) => each === key)
  const ending = key === "closed" ? closeReasonText(signal) : chosen === undefined ? escape : words[chosen]
  if (isShown) terminal.output.write(`${ending}\n`)
  return chosen
}

/** Runs a prompt of @clack/prompts; undefined if it was closed. */
export async function runPrompt<T>(
  { terminal, signal: outer }: Screen,
  prompt: (prompts: typeof Prompts, common: Prompts.CommonOptions) => Promise<T | symbol>,
): Promise<T | undefined> {
  const prompts = await import("@clack/prompts")
  return withOwnSignal(outer, async (signal) => {
    const answer = await prompt(prompts, { input: terminal.input, output: terminal.output, signal })
    return prompts.isCancel(answer) ? undefined : (answer as T)
  })
}

/** Asks for a line of text; undefined if the prompt was closed. */
export function promptText(
  screen: Screen,
  options: { message: string; initialValue?: string; wrong?: (text: string) => string | undefined },
): Promise<string | undefined> {
  const { message, initialValue, wrong } = options
  return runPrompt<string>(screen, (prompts, common) =>
    prompts.text({
      ...common,
      message,
      ...(initialValue === undefined ? {} : { initialValue }),
      ...(wrong === undefined ? { defaultValue: "" } : { validate: (text = "") => wrong(text) }),
    }),
  )
}
