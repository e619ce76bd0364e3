import { isUtf8 } from "node:buffer"
import type { CallRequest } from "../../../core/call.ts"
import { isTicket, type ToolResult } from "../../../core/result.ts"
import type { Conversation } from "../../../core/conversation.ts"
import type { AttachedJson } from "./chain-schemas.ts"
import type { Api } from "./endpoint.ts"
import { HttpProblem } from "./problem.ts"

interface File {
  path: string
  overwrites: boolean
  bytes: Uint8Array
}

/**
 * Writes a file into the workspace by the tools for files, as the agent of a conversation and for a person: with the
 * guards' checks, the limits, the rules and the record of every call. An existing file is replaced only when that is said.
 */
export async function attachFile(
  { app }: Api,
  { id, agentId }: Pick<Conversation, "id" | "agentId">,
  userId: string | undefined,
  { path, overwrites, bytes }: File,
): Promise<AttachedJson> {
  const about = { agentId, sessionId: id, ...(userId !== undefined && { userId }) }
  if (!overwrites) {
    const info = await app.call({ ...about, tool: "get_file_info", input: { path } })
    if (!info.success) throw refused(info, path)
    if ((info.result as { exists: boolean }).exists)
      throw new HttpProblem(409, `There is a file ${path} already. Choose another name, or send overwrite=true.`, {
        code: "file_exists",
        params: { path },
      })
  }
  const call = writing(path, bytes, overwrites)
  const ended = await app.call({ ...about, ...call }, { waitMs: 0 })
  if (!isTicket(ended) && !ended.success) throw refused(ended, path)
  return { callId: ended.callId, path, bytes: bytes.length, waits: isTicket(ended) }
}

/** A new text is made by the tool that fails where there is a file by then; other bytes are written as they are. */
function writing(path: string, bytes: Uint8Array, overwrites: boolean): Pick<CallRequest, "tool" | "input"> {
  const text = isUtf8(bytes) && !bytes.includes(0) ? Buffer.from(bytes).toString("utf8") : undefined
  if (text === undefined || text.startsWith("\uFEFF")) {
    const content = Buffer.from(bytes).toString("base64")
    return { tool: "write_file", input: { path, content, encoding: "base64" } }
  }
  if (overwrites || text === "") return { tool: "write_file", input: { path, content: text } }
  return { tool: "edit_file", input: { path, oldText: "", newText: text } }
}

function refused({ code, error = "The file was not written." }: ToolResult, path: string): HttpProblem {
  const status = code === "invalid_arguments" ? 400 : code === "tool_failed" ? 422 : 403
  return new HttpProblem(status, error, { code: code ?? "not_written", params: { path } })
}
