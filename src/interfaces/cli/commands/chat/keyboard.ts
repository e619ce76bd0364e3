import { StringDecoder } from "node:string_decoder"
import { escapeMs, KeyReader, pasteMarks } from "../../../../lib/key-reader.ts"
import type { Key } from "../../../../lib/line-editor.ts"

/** Reads keys from a terminal, until it is stopped. Pastes are marked, so that they can be told from keys. */
export function readKeys(input: NodeJS.ReadStream, output: NodeJS.WriteStream, onKey: (key: Key) => void): () => void {
  const reader = new KeyReader()
  const decoder = new StringDecoder()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  // A key may give the terminal to a card; what was read with it is not typed at that card.
  const press = (keys: readonly Key[]) => keys.forEach((key) => isStopped || onKey(key))
  const onData = (data: Buffer | string) => {
    clearTimeout(timer)
    press(reader.take(typeof data === "string" ? data : decoder.write(data)))
    if (reader.waitsForKey) timer = setTimeout(() => press(reader.takeEscape()), escapeMs)
  }
  input.setRawMode(true)
  input.on("data", onData)
  input.resume()
  output.write(pasteMarks.on)
  return () => {
    isStopped = true
    clearTimeout(timer)
    output.write(pasteMarks.off)
    input.off("data", onData)
    input.pause()
    input.setRawMode(false)
  }
}
