import { StringDecoder } from "node:string_decoder"
import { escapeMs, pasteMarks, plainText } from "../../lib/key-reader.ts"
import { TypedLine, type LineEvent } from "./typed-line.ts"

/** The streams of a terminal. */
export interface Keyboard {
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
}

/** A line is a choice only if there is no input before and after it for this time: text that comes in pieces is none. */
const quietMs = 200
/**
 * A card is shown this long before a key counts. Longer, together with `quietMs`, than a held key takes to repeat: a key
 * meant for the card before must not answer this one.
 */
const readMs = 600
export const enterKey = "\r"
const controlC = "\u0003"

/** The end of a wait without a choice: by the person, by Ctrl-C, or because the signal was aborted or the terminal is gone. */
export type NoChoice = "escape" | "interrupt" | "closed"

/**
 * Waits until the person has typed one of the keys, alone on its line, and Enter. Any other line is no choice: text that
 * was meant for somebody else answers nothing. Neither does a line that was begun before `ask`, or, after `showCard`,
 * before the person can have read it, unless `isRead` says that they have. Lines that ended by then are discarded.
 */
export function waitForChoice<Key extends string>(
  keyboard: Keyboard,
  signal: AbortSignal,
  {
    keys,
    showCard,
    isRead,
    ask,
    draw,
    refuse,
  }: {
    keys: readonly Key[]
    showCard?: () => void
    isRead: boolean
    ask(): void
    draw(line: TypedLine): void
    /** Says what becomes of a text that is no choice, and asks again. */
    refuse(text: string): void
  },
): Promise<Key | NoChoice> {
  const { input, output } = keyboard
  return inRawMode(keyboard, async () => {
    const line = new TypedLine()
    let before = await waitForQuiet(input, signal, line)
    if (before !== undefined) return before
    output.write(pasteMarks.on)
    try {
      showCard?.()
      if (showCard !== undefined && !isRead) {
        before = await waitForQuiet(input, signal, line, readMs)
        if (before !== undefined) return before
      }
      ask()
      if (line.text !== "") draw(line)
      for (;;) {
        const end = await readLine(input, signal, line, draw)
        if (end !== "enter") return end
        const rest = await readRest(input, signal)
        if (typeof rest === "string") return rest
        const typed = line.text === "" ? enterKey : line.text.toLowerCase()
        const wanted = line.isEarly || rest.text !== "" ? undefined : keys.find((key) => key === typed)
        if (wanted !== undefined) return wanted
        const text = `${line.text}\n${rest.text}`.trim()
        line.clear()
        if (text !== "") refuse(text)
      }
    } finally {
      output.write(pasteMarks.off)
    }
  })
}

/** Discards what was typed before a question is shown, shows it, and discards what is typed before it can be read. */
export async function showCardQuietly(
  keyboard: Keyboard,
  signal: AbortSignal,
  showCard: () => void,
): Promise<NoChoice | undefined> {
  return inRawMode(keyboard, async () => {
    const before = await waitForQuiet(keyboard.input, signal, new TypedLine())
    if (before !== undefined) return before
    showCard()
    return waitForQuiet(keyboard.input, signal, new TypedLine(), readMs)
  })
}

async function inRawMode<T>({ input }: Keyboard, work: () => Promise<T>): Promise<T> {
  const wasRaw = input.isRaw
  input.setRawMode(true)
  input.resume()
  try {
    return await work()
  } finally {
    input.pause()
    input.setRawMode(wasRaw)
  }
}

/** Waits until there is no input for a moment. Only a Ctrl-C counts; a line that has not ended is an early one. */
function waitForQuiet(
  input: NodeJS.ReadStream,
  signal: AbortSignal,
  line: TypedLine,
  ms = quietMs,
): Promise<NoChoice | undefined> {
  return listen<NoChoice | undefined>(input, signal, (read, end, later) => {
    const event = line.take(read)
    if (event === "interrupt") return end("interrupt")
    if (event === "enter") line.clear()
    line.isEarly = line.text !== ""
    later(ms, () => {
      line.takeEscape()
      end(undefined)
    })
  })
}

/** Reads until the line ends, or the person wants to leave. */
function readLine(
  input: NodeJS.ReadStream,
  signal: AbortSignal,
  line: TypedLine,
  draw: (line: TypedLine) => void,
): Promise<LineEvent | "closed"> {
  return listen<LineEvent>(input, signal, (read, end, later) => {
    const before = line.text
    const show = (event: LineEvent | undefined) => {
      if (line.text !== before) draw(line)
      if (event !== undefined) end(event)
    }
    show(line.take(read))
    if (line.waitsForKey) later(escapeMs, () => show(line.takeEscape()))
  })
}

/** Reads what follows a line at once: nothing, unless it is part of a longer text. */
function readRest(input: NodeJS.ReadStream, signal: AbortSignal): Promise<{ text: string } | NoChoice> {
  let text = ""
  return listen<{ text: string } | NoChoice>(input, signal, (read, end, later) => {
    if (read === controlC) return end("interrupt")
    text += read
    later(quietMs, () => end({ text: plainText(text).trim() }))
  })
}

/** Passes input to `onRead`, first "", until that calls `end`. A function given to `later` runs if no input comes before. */
function listen<Value>(
  input: NodeJS.ReadStream,
  signal: AbortSignal,
  onRead: (read: string, end: (value: Value) => void, later: (ms: number, then: () => void) => void) => void,
): Promise<Value | "closed"> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined
    const decoder = new StringDecoder()
    const end = (value: Value | "closed") => {
      clearTimeout(timer)
      input.off("data", onData).off("end", close).off("close", close).off("error", close)
      signal.removeEventListener("abort", close)
      resolve(value)
    }
    const close = () => end("closed")
    const later = (ms: number, then: () => void) => {
      timer = setTimeout(then, ms)
    }
    const onData = (data: Buffer | string) => {
      clearTimeout(timer)
      onRead(typeof data === "string" ? data : decoder.write(data), end, later)
    }
    input.on("data", onData).on("end", close).on("close", close).on("error", close)
    signal.addEventListener("abort", close)
    if (signal.aborted || input.readableEnded || input.destroyed) close()
    else onRead("", end, later)
  })
}
