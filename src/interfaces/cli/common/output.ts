import { printable, printableJson } from "../../../lib/printable.ts"
import type { CliContext, Io } from "./context.ts"
import { asTyped } from "./typed-command.ts"

/** Prints a message for the person on stderr, so that it never mixes with a result. */
export function printMessage({ io }: Pick<CliContext, "io">, text: string): void {
  io.stderr.write(`${asTyped(io, printable(text))}\n`)
}

/** Prints a result on stdout. The text must already be safe to print. */
export function printOutput({ io }: Pick<CliContext, "io">, text: string): void {
  io.stdout.write(text.endsWith("\n") ? text : `${text}\n`)
}

/** Prints a command's result: the value with --json, otherwise the text. */
export function printResult(context: CliContext, value: unknown, text: string): void {
  printOutput(context, context.flags.json ? printableJson(value) : asTyped(context.io, printable(text)))
}

/** Redirects stdout to stderr, so that a tool that prints cannot corrupt the result. `write` still reaches stdout. */
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

/** Ignores a closed pipe (`| head`) or a closed terminal instead of crashing, and calls `gone`. */
export function onBrokenPipe(stream: NodeJS.WriteStream, gone: () => void = () => {}): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && !(error.code === "EIO" && stream.isTTY)) throw error
    gone()
  })
}

/** Writes, and resolves when the stream can take more or is closed. */
export async function writeAndDrain(stream: NodeJS.WriteStream, text: string): Promise<void> {
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
