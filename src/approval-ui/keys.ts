/** The streams of a terminal. */
export interface Keyboard {
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
}

/** Nothing counts before this time without input, so that keys typed for something else do not answer. */
const quietMs = 200
/**
 * How long a card is shown before a key counts. Longer, together with `quietMs`, than a held key takes to repeat: a key
 * meant for the card before must not answer this one.
 */
const readMs = 600
/** How long to wait after an escape character for the rest of an arrow key. */
const escapeMs = 50
const escape = "\u001b"
export const enterKey = "\r"
const controlC = "\u0003"
const controlU = "\u0015"
const pasteMarks = { on: `${escape}[?2004h`, off: `${escape}[?2004l` }
const pasteStart = `${escape}[200~`
const pasteEnd = `${escape}[201~`

/** How a wait for a choice ended without one: by the person, by Ctrl-C, or because the signal was aborted or the terminal is gone. */
export type NoChoice = "escape" | "interrupt" | "closed"

/**
 * Waits until the person has typed one of the keys, alone on its line, and Enter. Any other line is no choice: text that
 * was meant for somebody else answers nothing. What was typed before `ask` is discarded, after `showCard` also what is
 * typed before the person can have read it, unless `isRead` says that they have.
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
    showCard?: (() => void) | undefined
    isRead: boolean
    ask(): void
    /** Shows what is typed so far. */
    draw(typed: string): void
    /** Says what becomes of a line that is no choice, and asks again. */
    refuse(line: string): void
  },
): Promise<Key | NoChoice> {
  const { input, output } = keyboard
  return inRawMode(keyboard, async () => {
    let before = await waitForQuiet(input, signal)
    if (before !== undefined) return before
    output.write(pasteMarks.on)
    try {
      showCard?.()
      if (showCard !== undefined && !isRead) {
        before = await waitForQuiet(input, signal, readMs)
        if (before !== undefined) return before
      }
      ask()
      for (;;) {
        const read = await readLine(input, signal, draw)
        if (typeof read === "string") return read
        const line = read.line.trim()
        const wanted = keys.find((key) => key === (line === "" ? enterKey : line.toLowerCase()))
        if (wanted !== undefined) return wanted
        if (line !== "") refuse(line)
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
    const before = await waitForQuiet(keyboard.input, signal)
    if (before !== undefined) return before
    showCard()
    return waitForQuiet(keyboard.input, signal, readMs)
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

/** Discards input until there is none for a moment. Only a Ctrl-C alone counts. */
function waitForQuiet(input: NodeJS.ReadStream, signal: AbortSignal, ms = quietMs): Promise<NoChoice | undefined> {
  return listen<NoChoice | undefined>(input, signal, (read, end, later) => {
    if (read === controlC) end("interrupt")
    else later(ms, () => end(undefined))
  })
}

/** What a terminal sends: the marks of a paste, a key that types nothing, or a character. */
const keyPattern = new RegExp(`${escape}(?:\\[[0-?]*[ -/]*[@-~]|O[ -~]|[^[O${escape}${controlC}])|[^]`, "gu")
/** The beginning of such a key at the end of a read. */
const keyBegins = new RegExp(`${escape}(?:\\[[0-?]*[ -/]*|O)?$`, "u")

const characters = new Intl.Segmenter()

/** One line of what the person types. Escape empties it, and ends the wait if it is empty. */
function readLine(
  input: NodeJS.ReadStream,
  signal: AbortSignal,
  draw: (typed: string) => void,
): Promise<{ line: string } | NoChoice> {
  let line = ""
  let begun = ""
  let isPaste = false
  return listen<{ line: string } | NoChoice>(input, signal, (read, end, later) => {
    const text = begun + read
    begun = keyBegins.exec(text)?.[0] ?? ""
    take(text.slice(0, text.length - begun.length))
    if (begun !== "") later(escapeMs, takeEscape)

    function takeEscape() {
      begun = ""
      take(escape)
    }

    function take(received: string) {
      const before = line
      const keys = received.match(keyPattern) ?? []
      // Text without marks that has more line ends than one at its end was pasted too.
      const isEntered = keys.findIndex(isEnter) === keys.length - 1
      for (const key of keys) {
        if (key === pasteStart || key === pasteEnd) isPaste = key === pasteStart
        else if (isPaste) line += key.replace(/\p{Cc}/gu, " ")
        else if (key === controlC) return end("interrupt")
        else if (isEnter(key) && isEntered) return end({ line })
        else if (key === escape && line === "") return end("escape")
        else if (key === escape || key === controlU) line = ""
        else if (key === "\u007f" || key === "\b") line = withoutLast(line)
        else if (isEnter(key)) line += " "
        else if (!/\p{Cc}/u.test(key)) line += key
      }
      if (line !== before) draw(line)
    }
  })
}

function isEnter(key: string): boolean {
  return key === enterKey || key === "\n"
}

function withoutLast(line: string): string {
  return line.slice(0, [...characters.segment(line)].at(-1)?.index ?? 0)
}

/** Passes input to `onRead`, first "", until that calls `end`. A function given to `later` runs if no input comes before. */
function listen<Value>(
  input: NodeJS.ReadStream,
  signal: AbortSignal,
  onRead: (read: string, end: (value: Value) => void, later: (ms: number, then: () => void) => void) => void,
): Promise<Value | "closed"> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined
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
      onRead(String(data), end, later)
    }
    input.on("data", onData).on("end", close).on("close", close).on("error", close)
    signal.addEventListener("abort", close)
    if (signal.aborted || input.readableEnded || input.destroyed) close()
    else onRead("", end, later)
  })
}
