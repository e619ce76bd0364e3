import type { Conversation } from "../../core/conversation.ts"
import { isTicket, type ToolResult } from "../../core/result.ts"
import { lookForFile, writeAttached } from "../../tools/workspace/attach.ts"
import type { ChainApp } from "./active-chain.ts"

export interface AttachedFile {
  path: string
  bytes: Uint8Array
  /** True if an existing file may be replaced. */
  overwrites: boolean
}

/** The outcome for a file: written by this call, waiting for a person, already there, or refused. */
export type Attached = { callId: string; waits: boolean } | { exists: true } | { refused: ToolResult }

/**
 * Writes a file into the workspace by the tools for files, as the agent of a conversation and for a person: with the guards'
 * checks, the limits, the rules and the record of every call.
 */
export async function attachFile(
  app: Pick<ChainApp, "call">,
  { id, agentId }: Pick<Conversation, "id" | "agentId">,
  { path, bytes, overwrites }: AttachedFile,
  userId: string | undefined,
): Promise<Attached> {
  const about = { agentId, sessionId: id, userId }
  if (!overwrites) {
    const found = await app.call({ ...about, ...lookForFile(path) })
    if (!found.success) return { refused: found }
    if ((found.result as { exists: boolean }).exists) return { exists: true }
  }
  const ended = await app.call({ ...about, ...writeAttached(path, bytes, overwrites) }, { waitMs: 0 })
  if (!isTicket(ended) && !ended.success) return { refused: ended }
  return { callId: ended.callId, waits: isTicket(ended) }
}
