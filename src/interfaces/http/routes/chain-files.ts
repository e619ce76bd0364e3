import type { AttachedFile } from "../../../agents/chain/attach-file.ts"
import type { Conversation } from "../../../core/conversation.ts"
import type { AttachedJson } from "./chain-schemas.ts"
import type { Api } from "./endpoint.ts"
import { HttpProblem } from "./problem.ts"

/** Puts a file into the workspace for a person. */
export async function attachFile(
  { app }: Api,
  conversation: Conversation,
  file: AttachedFile,
  userId: string | undefined,
): Promise<AttachedJson> {
  const { path, bytes } = file
  const attached = await app.conversations.attach(conversation, file, userId)
  if ("callId" in attached) return { ...attached, path, bytes: bytes.length }
  if ("exists" in attached)
    throw new HttpProblem(409, `There is a file ${path} already. Choose another name, or send overwrite=true.`, {
      code: "file_exists",
      params: { path },
    })
  const { code, error = "The file was not written." } = attached.refused
  const status = code === "invalid_arguments" ? 400 : code === "tool_failed" ? 422 : 403
  throw new HttpProblem(status, error, { code: code ?? "not_written", params: { path } })
}
