/** Where a person reads and types. */
export interface Keyboard {
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
}

/** So long nothing may have come in before a key counts: what was typed for something else must not answer. */
const quietMs = 200
/** So long an escape waits for the rest of an arrow key. */
const escapeMs = 50
const escape = "\u001b"
const controlC = "\u0003"
const pasteMarks = { on: `${escape}[?2004h`, off: `${escape}[?2004l` }

/**
 * Waits for one of the keys. What was typed before `show` is thrown away, other keys do nothing, and a paste is refused
 * as a whole. Escape and Ctrl-C are "escape"; "closed" means that the signal was aborted or the terminal is gone.
 */
export function pressKey<Key extends string>(
  keyboard: Keyboard,
  signal: AbortSignal,
  { keys, show, refuse }: { keys: readonly Key[]; show(): void; refuse(sentence: string): void },
): Promise<Key | "escape" | "closed"> {
  const { input, output } = keyboard
  return taken(keyboard, async () => {
    let before = await quiet(input, signal)
    if (before !== undefined) return before
    output.write(pasteMarks.on)
    show()
    try {
      for (;;) {
        const key = await nextKey(input, signal)
        if (key === "escape" || key === "closed") return key
        const wanted = keys.find((one) => one === key)
        if (wanted !== undefined) return wanted
        if (key !== "burst") continue
        before = await quiet(input, signal)
        if (before !== undefined) return before
        refuse("Several characters came at once, so none of them counts. Press one key.")
      }
    } finally {
      output.write(pasteMarks.off)
    }
  })
}

/** Throws away what was typed before a question is shown. */
export async function forgetKeys(keyboard: Keyboard, signal: AbortSignal): Promise<"escape" | "closed" | undefined> {
  return taken(keyboard, () => quiet(keyboard.input, signal))
}

async function taken<T>({ input }: Keyboard, work: () => Promise<T>): Promise<T> {
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

/** Drops everything until nothing has come for a moment. Only a lone Ctrl-C is heard. */
function quiet(input: NodeJS.ReadStream, signal: AbortSignal): Promise<"escape" | "closed" | undefined> {
  return listen(input, signal, (read, end, later) => {
    if (read === controlC) end("escape")
    else later(quietMs, undefined)
  })
}

function nextKey(input: NodeJS.ReadStream, signal: AbortSignal): Promise<string> {
  let held = ""
  return listen<string>(input, signal, (read, end, later) => {
    held += read
    if (held === "") return
    if (held === escape) later(escapeMs, "escape")
    else end(keyOf(held))
  })
}

/** What one read of the terminal is: a character, "escape", "other" for a key without one, or a "burst". */
function keyOf(read: string): string {
  if (Array.from(read).every((character) => character === controlC || character === escape)) return "escape"
  if (read.startsWith(`${escape}[200~`)) return "burst"
  if (read.startsWith(escape) && /^(\[[0-?]*[ -/]*[@-~]|O[ -~]|[^[O])$/u.test(read.slice(1))) return "other"
  return Array.from(read).length === 1 ? read : "burst"
}

/** Hears what comes in, first of all "", until it ends: with a value, after a time without more, or "closed". */
function listen<Value>(
  input: NodeJS.ReadStream,
  signal: AbortSignal,
  hear: (read: string, end: (value: Value) => void, later: (ms: number, value: Value) => void) => void,
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
      hear(String(data), end, later)
    }
    input.on("data", onData).on("end", close).on("close", close).on("error", close)
    signal.addEventListener("abort", close)
    if (signal.aborted || input.readableEnded || input.destroyed) close()
    else hear("", end, later)
  })
}
