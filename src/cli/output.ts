import type { House, Io, Session } from "./house.ts"

/** A sentence for the person, on stderr, where it never mixes with a result. */
export function say({ io, house }: Pick<Session, "io" | "house">, text: string): void {
  io.stderr.write(`${house.printable(text)}\n`)
}

/** What a command was asked for, on stdout. The text must be printable already. */
export function tell({ io }: Pick<Session, "io">, text: string): void {
  io.stdout.write(text.endsWith("\n") ? text : `${text}\n`)
}

/** A command's answer: its value for programs, or its text for people. */
export function answer(session: Session, value: unknown, text: string): void {
  const { house, flags } = session
  tell(session, flags.json ? jsonText(value, house) : house.printable(text))
}

/** JSON with every character that paints on a terminal escaped; it is read back as the same value. */
export function jsonText(value: unknown, house: House, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? "null"
  if (house.printable(text) === text) return text
  return text.replace(/[^\n -~]/gu, (character) =>
    house.printable(character) === character ? character : escaped(character),
  )
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("")
}

/**
 * Sends everything that is written to stdout to stderr from now on, whoever writes it: a tool that prints must not
 * spoil a result. `write` still reaches stdout.
 */
export function divertStdout({ stdout, stderr }: Io): { write: (text: string) => void; restore: () => void } {
  // oxlint-disable-next-line typescript/unbound-method -- it is called on stdout, and put back as it was
  const original = stdout.write
  const write = (text: string) => void original.call(stdout, text)
  stdout.write = stderr.write.bind(stderr)
  return {
    write,
    restore: () => {
      stdout.write = original
    },
  }
}

/** A reader that went away (`| head`) ends the writing quietly. `gone` is told of it. */
export function onReaderGone(stream: NodeJS.WriteStream, gone: () => void = () => {}): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error
    gone()
  })
}

/** Writes, and resolves when the stream takes more, or will never take anything again. */
export async function written(stream: NodeJS.WriteStream, text: string): Promise<void> {
  if (stream.write(text) || stream.destroyed) return
  await new Promise<void>((resolve) => {
    const events = ["drain", "close", "error"] as const
    const done = () => {
      for (const event of events) stream.off(event, done)
      resolve()
    }
    for (const event of events) stream.on(event, done)
  })
}
