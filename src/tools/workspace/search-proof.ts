import { join } from "node:path"
import { ToolFailure } from "../../model/ending.ts"
import type { FileFacts, Files } from "../../model/files.ts"
import { bytesOf, type Message } from "./search-entries.ts"
import type { SearchRoot } from "./search-root.ts"

/** A larger file is read only where its lines are. */
const readWhole = 1024 * 1024

/**
 * Whether what ripgrep told of a file is what the fence reads there. ripgrep opens files by their names, and somebody may
 * have put a link in the place of one meanwhile; so nothing is shown that is not in a file inside the fence.
 */
export async function isStillThere(
  files: Files,
  file: string,
  root: SearchRoot,
  messages: readonly Message[],
): Promise<boolean> {
  const isSame = ({ kind, real }: FileFacts) => kind === "file" && real === join(root.cwd, root.printedOf(file))
  try {
    const small = files.readSmall(file, readWhole)
    if (small !== undefined) return isSame(small.facts) && messages.every((message) => isIn(small.bytes, message))
    const open = await files.open(file)
    try {
      if (!isSame(open)) return false
      const head = Buffer.alloc(3)
      await open.read(head, 0)
      const start = isUtf8Mark(head) ? 3 : 0
      // What ripgrep has decoded cannot be found again by its place; the whole would be read for it.
      if (isUtf16Mark(head)) return false
      for (const message of messages) {
        const expected = bytesOf(message.data.lines)
        const bytes = Buffer.alloc(expected.length)
        const count = await open.read(bytes, message.data.absolute_offset + start)
        if (count !== expected.length || !bytes.equals(expected)) return false
      }
      return true
    } finally {
      await open.close()
    }
  } catch (error) {
    if (error instanceof ToolFailure) return false
    throw error
  }
}

function isIn(bytes: Buffer, { data }: Message): boolean {
  const expected = bytesOf(data.lines)
  if (isUtf16Mark(bytes)) {
    const text = new TextDecoder(bytes[0] === 0xff ? "utf-16le" : "utf-16be").decode(bytes)
    return text.includes(expected.toString("utf8"))
  }
  const at = data.absolute_offset + (isUtf8Mark(bytes) ? 3 : 0)
  return bytes.subarray(at, at + expected.length).equals(expected)
}

function isUtf8Mark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

function isUtf16Mark(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
}
