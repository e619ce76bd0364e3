/** The streams of a terminal. */
export interface Keyboard {
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
}

/** A key counts only after this time without input, so that keys typed for something else do not answer. */
const quietMs = 200
/**
 * How long a card is shown before a key counts. Longer, together with `quietMs`, than a held key takes to repeat: a key
 * meant for the card before must not answer this one.
 */
const readMs = 600
/** A key counts when nothing follows it for this long: the first letter of a sentence must not answer. */
const aloneMs = 400
/** How long to wait after an escape character for the rest of an arrow key. */
const escapeMs = 50
const escape = "\u001b"
export const enterKey = "\r"
const controlC = "\u0003"
const pasteMarks = { on: `${escape}[?2004h`, off: `${escape}[?2004l` }

/** How a wait for a key ended without one: by the person, by Ctrl-C, or because the signal was aborted or the terminal is gone. */
export type NoKey = "escape" | "interrupt" | "closed"

/**
 * Waits for one of the keys. Keys typed before `ask` are discarded, other keys do nothing, and a paste is refused as a
 * whole. After `showCard` no key counts before the person can have read it, unless `isRead` says that they have.
 */
export function waitForKey<Key extends string>(
  keyboard: Keyboard,
  signal: AbortSignal,
  {
    keys,
    showCard,
    isRead,
    ask,
    refuse,
  }: {
    keys: readonly Key[]
    showCard?: (() => void) | undefined
    isRead: boolean
    ask(): void
    refuse(sentence: string): void
  },
): Promise<Key | NoKey> {
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
        const key = await nextKey(input, signal, keys)
        if (key === "escape" || key === "interrupt" || key === "closed") return key
        const wanted = keys.find((each) => each === key)
        if (wanted !== undefined) return wanted
        if (key !== "burst") continue
        before = await waitForQuiet(input, signal, aloneMs)
        if (before !== undefined) return before
        refuse("You typed more than one character, so none of them counts. To answer, press one key alone.")
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
): Promise<NoKey | undefined> {
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
function waitForQuiet(input: NodeJS.ReadStream, signal: AbortSignal, ms = quietMs): Promise<NoKey | undefined> {
  return listen<NoKey | undefined>(input, signal, (read, end, later) => {
    if (read === controlC) end("interrupt")
    else later(ms, undefined)
  })
}

/** The next key. One of `keys` counts only if it stands alone; with what follows, it is a "burst". */
function nextKey(input: NodeJS.ReadStream, signal: AbortSignal, keys: readonly string[]): Promise<string> {
  let held = ""
  return listen<string>(input, signal, (read, end, later) => {
    held += read
    if (held === "") return
    if (held === escape) return later(escapeMs, "escape")
    const key = keyOf(held)
    if (keys.includes(key)) later(aloneMs, key)
    else end(key)
  })
}

/** What one read of the terminal is: a character, "escape", "interrupt", "other" for a key without one, or a "burst". */
function keyOf(read: string): string {
  if (read.includes(controlC) && onlyEndings(read)) return "interrupt"
  if (onlyEndings(read)) return "escape"
  if (read.startsWith(`${escape}[200~`)) return "burst"
  if (read.startsWith(escape) && /^(\[[0-?]*[ -/]*[@-~]|O[ -~]|[^[O])$/u.test(read.slice(1))) return "other"
  return Array.from(read).length === 1 ? read : "burst"
}

function onlyEndings(read: string): boolean {
  return Array.from(read).every((character) => character === controlC || character === escape)
}

/** Passes input to `onRead`, first "", until that calls `end`, a time set by `later` passes without input, or "closed". */
function listen<Value>(
  input: NodeJS.ReadStream,
  signal: AbortSignal,
  onRead: (read: string, end: (value: Value) => void, later: (ms: number, value: Value) => void) => void,
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
    const later = (ms: number, value: Value) => {
      timer = setTimeout(end, ms, value)
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
