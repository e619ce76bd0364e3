import { isUtf8 } from "node:buffer"

/** A call by which a person puts a file into the workspace. */
interface AttachCall {
  tool: string
  input: Readonly<Record<string, unknown>>
}

/** Looks whether there is a file. Its result has `exists`. */
export function lookForFile(path: string): AttachCall {
  return { tool: "get_file_info", input: { path } }
}

/**
 * Writes the file. A new text is made by the tool that fails where there is a file by then; other bytes are written as they
 * are.
 */
export function writeAttached(path: string, bytes: Uint8Array, overwrites: boolean): AttachCall {
  const text = isUtf8(bytes) && !bytes.includes(0) ? Buffer.from(bytes).toString("utf8") : undefined
  if (text === undefined || text.startsWith("\uFEFF")) {
    const content = Buffer.from(bytes).toString("base64")
    return { tool: "write_file", input: { path, content, encoding: "base64" } }
  }
  if (overwrites || text === "") return { tool: "write_file", input: { path, content: text } }
  return { tool: "edit_file", input: { path, oldText: "", newText: text } }
}
