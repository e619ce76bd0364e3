import type * as Prompts from "@clack/prompts"
import { oneLine, trustedRows } from "./card-rows.ts"
import { closeReasonText, withOwnSignal } from "./dialog-signal.ts"
import { enterKey, showCardQuietly, waitForChoice, type Keyboard } from "./keys.ts"
import { TypedLine } from "./typed-line.ts"
import { printable } from "../../lib/printable.ts"
import { terminalStyleFor, type TerminalStyle } from "../../lib/terminal-style.ts"

export interface Terminal extends Keyboard {
  /** Approves without asking: tools that are not sensitive, unless a rule demands a person. */
  yes?: boolean
  /** The person who sits there, if that is known. */
  by?: string
  /** Environment for NO_COLOR, VISUAL and EDITOR; by default that of the process. */
  env?: Readonly<Record<string, string | undefined>>
  /** Called for Ctrl-C at a card, which is then no answer. Without it, Ctrl-C closes the card, as escape does. */
  onInterrupt?: () => void
}

/** Somebody who is told what is typed at a card and is no answer. */
export interface CardListener {
  /** A text that was sent. Returns what becomes of it. */
  takeText(text: string): string
  /** A text that was not sent when the card was closed from elsewhere. */
  keep(text: string): void
}

/** A terminal while one dialog has it. */
export interface Screen {
  terminal: Terminal
  env: Readonly<Record<string, string | undefined>>
  paint: TerminalStyle
  columns: number
  rows: number | undefined
  /** A card in a dialog says what a yes can add or remember only at the key for that. */
  offers: false
  /** Aborted when the dialog is to be closed. */
  signal: AbortSignal
  /** Closing a card is an answer, or leaves it for later. */
  escape: "no" | "later"
  /** True once a card has been shown long enough to be read, so that keys count. */
  isRead: boolean
  /** Called when the person presses Ctrl-C. */
  onInterrupt?: () => void
  /** Is told what the person types at a card and is no answer. Without it, such text is refused. */
  listener?: CardListener
  /** Set where the person may add the rule that a card offers: says what is wrong with a duration. */
  rules?: { durationProblem(text: string): string | undefined }
  /** Writes a sentence below the open menu and repeats the menu. Undefined while no menu is open. */
  interject?: (sentence: string) => void
}

/** Options of a dialog that need not be answered. */
export type ScreenOptions = Partial<Pick<Screen, "escape" | "onInterrupt" | "listener" | "rules">>

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
  options: ScreenOptions = {},
): Promise<T> {
  const env = terminal.env ?? process.env
  const turn = (lastTurn.get(terminal.input) ?? Promise.resolve()).then(() =>
    withOwnSignal(outer, async (signal) => {
      const paint = await terminalStyleFor(terminal.output, env)
      return work({
        terminal,
        env,
        paint,
        columns: terminal.output.columns || 80,
        rows: terminal.output.rows || undefined,
        offers: false,
        signal,
        escape: "no",
        isRead: false,
        ...options,
      })
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

/** Shows a card without a menu; false if it was closed before a key counts. The terminal is left in raw mode. */
export async function showCard(screen: Screen, lines: () => readonly string[]): Promise<boolean> {
  const { terminal, signal } = screen
  const closed = await showCardQuietly(terminal, signal, () => writeLines(screen, ["", ...lines()]))
  if (closed === "interrupt") screen.onInterrupt?.()
  screen.isRead = true
  // The prompt that follows reads the next key, and no key is echoed between the lines.
  if (closed === undefined) terminal.input.setRawMode(true)
  return closed === undefined
}

/** Writes a sentence for the person at the terminal. */
export function showNotice(screen: Screen, sentence: string): void {
  writeLines(screen, trustedRows(oneLine(sentence), screen.columns).map(screen.paint.yellow))
}

/**
 * Shows the lines and waits for one of the keys and Enter; undefined if the person closes it with escape, Ctrl-C or q, or if
 * somebody answered elsewhere. A key without a word is not in the menu.
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
  let typed = new TypedLine()
  const keys = Object.keys(words) as Key[]
  const named = keys.filter((key) => words[key] !== "").map((key) => `${nameOfKey(key)} ${words[key]},`)
  const menu = [title, ...named, `escape ${escape}`].join(" ")
  const howTo = keys.some((key) => key !== enterKey) ? "   type one of these, then Enter" : ""
  const alsoTyped = Object.keys(meant).filter(
    (typed) => !Object.hasOwn(words, typed) && Object.hasOwn(words, meant[typed] ?? ""),
  )
  const keyOf = (typed: string) => keys.find((key) => key === (alsoTyped.includes(typed) ? meant[typed] : typed))
  const wordOf = (typed: string) => {
    const key = keyOf(typed)
    return key && words[key]
  }
  const draw = (line: TypedLine) => {
    typed = line
    const isLong = Array.from(line.text).length > 1
    const choice = line.isEarly ? undefined : wordOf(line.text.toLowerCase())
    const hint = choice ?? (isLong && screen.listener !== undefined ? "tell the agent" : "")
    terminal.output.write(`\r${eraseRow}${lineRow(line.text, hint, screen)}`)
  }
  const ask = () => {
    isShown = true
    terminal.output.write(`${trustedRows(menu, columns).map(paint.cyan).join("\n")}\n> ${behindCursor(howTo, paint)}`)
    if (typed.text !== "") draw(typed)
  }
  const interject = (sentence: string) => {
    terminal.output.write("\n")
    showNotice(screen, sentence)
    ask()
  }
  const refuse = (text: string) => {
    terminal.output.write(`\r${eraseRow}${lineRow(text, "", screen)}`)
    const isLong = Array.from(text).length > 1
    interject((isLong ? screen.listener?.takeText(text) : undefined) ?? noAnswerText)
  }
  const showCard = () => {
    isShown = true
    writeLines(screen, ["", ...lines])
  }
  const key = await waitForChoice(terminal, signal, {
    keys: [...keys, ...alsoTyped, "q"],
    showCard: lines.length > 0 ? showCard : undefined,
    isRead: screen.isRead,
    ask() {
      screen.isRead = true
      ask()
      screen.interject = interject
    },
    draw,
    refuse,
  })
  screen.interject = undefined
  const chosen = keyOf(key)
  if (isShown) {
    const text = chosen === undefined ? noChoice(screen, key, escape) : words[chosen] || chosen
    terminal.output.write(`${typed.text === "" && howTo === "" ? "" : `\r${eraseRow}> `}${text}\n`)
  }
  if (key === "closed" && Array.from(typed.text).length > 1) screen.listener?.keep(typed.text)
  if (key === "interrupt") screen.onInterrupt?.()
  return chosen
}

/** Letters that people type out of habit, and the keys they mean, where those are choices. */
const meant: Readonly<Record<string, string>> = { y: "a", n: "r" }

const eraseRow = "\u001b[K"
const noAnswerText = "That is not one of the choices. Type one of them and press Enter."

/** The typed text, and behind the cursor what Enter does with it. */
function lineRow(text: string, word: string, { terminal, paint }: Screen): string {
  const columns = terminal.output.columns || 80
  const letters = Array.from(printable(text.replace(/\s+/gu, " ")))
  // A letter may be two columns wide.
  const most = Math.floor(columns / 2) - 4
  const row = letters.length > most ? `> …${letters.slice(-most).join("")}` : `> ${letters.join("")}`
  const hint = word === "" ? "" : `   Enter: ${word}`
  const fits = hint !== "" && 2 * letters.length + hint.length + 3 < columns
  return fits ? row + behindCursor(hint, paint) : row
}

/** A hint after which the cursor stands where it was. */
function behindCursor(hint: string, paint: Screen["paint"]): string {
  return hint === "" ? "" : `${paint.dim(hint)}\u001b[${hint.length}D`
}

function noChoice({ signal, onInterrupt }: Screen, key: string, escape: string): string {
  if (key === "closed") return closeReasonText(signal)
  return key === "interrupt" && onInterrupt !== undefined ? "stopped" : escape
}

function nameOfKey(key: string): string {
  return key === enterKey ? "enter" : key
}

/** Runs a prompt of @clack/prompts; undefined if it was closed. */
export async function runPrompt<T>(
  { terminal, signal: outer, onInterrupt }: Screen,
  prompt: (prompts: typeof Prompts, common: Prompts.CommonOptions) => Promise<T | symbol>,
): Promise<T | undefined> {
  const prompts = await import("@clack/prompts")
  return withOwnSignal(outer, async (signal) => {
    let interrupted = false
    const onKey = (_: unknown, key: { ctrl?: boolean; name?: string } | undefined) => {
      interrupted ||= key?.ctrl === true && key.name === "c"
    }
    terminal.input.on("keypress", onKey)
    try {
      const answer = await prompt(prompts, { input: terminal.input, output: terminal.output, signal })
      if (!prompts.isCancel(answer)) return answer as T
      if (interrupted) onInterrupt?.()
      return undefined
    } finally {
      terminal.input.off("keypress", onKey)
    }
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
