import { emitKeypressEvents } from "node:readline"
import type { Key } from "../../../../lib/line-editor.ts"

const escape = "\u001b"
const pasteMarks = { on: `${escape}[?2004h`, off: `${escape}[?2004l` }

interface ReadKey {
  name?: string
  ctrl?: boolean
  meta?: boolean
}

/** Reads keys from a terminal, until it is stopped. Pastes are marked, so that they can be told from keys. */
export function readKeys(input: NodeJS.ReadStream, output: NodeJS.WriteStream, onKey: (key: Key) => void): () => void {
  const listener = (text: string | undefined, { name, ctrl, meta }: ReadKey) =>
    onKey({ name, ctrl, meta, text: text ?? undefined })
  emitKeypressEvents(input)
  input.setRawMode(true)
  input.on("keypress", listener)
  input.resume()
  output.write(pasteMarks.on)
  return () => {
    output.write(pasteMarks.off)
    input.off("keypress", listener)
    input.pause()
    input.setRawMode(false)
  }
}
