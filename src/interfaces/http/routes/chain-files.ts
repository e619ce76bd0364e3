import type { Attached, AttachedFile } from "../../../agents/chain/attach-file.ts"
import { isTicket, type ToolResult } from "../../../core/result.ts"
import type { Conversation } from "../../../core/conversation.ts"
import type { Caller } from "./caller.ts"
import type { AttachedJson } from "./chain-schemas.ts"
import type { Api } from "./endpoint.ts"
import { HttpProblem } from "./problem.ts"

/** Puts a file into the workspace for a person. */
export async function attachFile(
  api: Api,
  caller: Caller,
  conversation: Conversation,
  file: AttachedFile,
): Promise<AttachedJson> {
  const { path, bytes } = file
  let attached = await api.app.conversations.attach(conversation, file, caller.id)
  if ("callId" in attached && attached.waits) attached = await agreeFor(api, caller, attached.callId)
  if ("callId" in attached) return { ...attached, path, bytes: bytes.length }
  if ("exists" in attached)
    throw new HttpProblem(409, `There is a file ${path} already. Choose another name, or send overwrite=true.`, {
      code: "file_exists",
      params: { path },
    })
  return refuse(attached.refused, path)
}

/** Answers a call by which a person attaches a file: they chose the file, so their yes is known. It waits for others only. */
async function agreeFor({ app }: Api, caller: Caller, callId: string): Promise<Attached> {
  const item = await app.approvals.show(callId)
  if (item !== undefined && item.kind === "call" && caller.scopes.includes("approve"))
    await app.approvals.answer(callId, { kind: "approve" }, caller.id, item.revision)
  // Whoever answers last, the file is written then. The yes is on record before, or both would write it.
  const ended = app.resume(callId)
  ended.catch(() => {})
  if ((await app.approvals.show(callId)) !== undefined) return { callId, waits: true }
  const result = await ended
  return isTicket(result) || result.success ? { callId, waits: isTicket(result) } : { refused: result }
}

function refuse({ code, error = "The file was not written." }: ToolResult, path: string): never {
  const status = code === "invalid_arguments" ? 400 : code === "tool_failed" ? 422 : 403
  throw new HttpProblem(status, error, { code: code ?? "not_written", params: { path } })
}
