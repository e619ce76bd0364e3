import type { ExportedCall } from "./audit-reader.ts"

/** Every field of an exported call, in the order of the columns. */
const order: Readonly<Record<keyof ExportedCall, true>> = {
  callId: true,
  at: true,
  agentId: true,
  role: true,
  tool: true,
  version: true,
  status: true,
  code: true,
  startedAt: true,
  durationMs: true,
  sessionId: true,
  taskId: true,
  userId: true,
  parentCallId: true,
  input: true,
  inputDigest: true,
  result: true,
  error: true,
  reasons: true,
  policy: true,
}
export const exportedColumns = Object.keys(order) as (keyof ExportedCall)[]
