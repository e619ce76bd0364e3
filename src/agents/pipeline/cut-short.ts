import type { RegisteredTool } from "../../core/tool.ts"
import { isTicket, type Ticket, type ToolResult } from "../../core/result.ts"
import { interruptedAnswers, interruptedToolName } from "../chain/loop-tools.ts"

/** A call that a person says has happened. Its result is lost. */
export interface TreatedAsDone {
  callId: string
  treatedAsDone: true
}

/** Reports whether an earlier run's call with the same id has no result: its process was killed or it was stopped. */
export function wasCutShort(
  { code, startedAt, completedAt = startedAt }: ToolResult,
  run: { startedAt: number; signal: AbortSignal },
): boolean {
  if (run.signal.aborted) return false
  return code === "interrupted" || (code === "aborted" && completedAt <= run.startedAt)
}

/** Reports whether such a call may be repeated unasked: it had not begun, or has no effect, or the same one twice. */
export function mayBeRepeated({ metadata }: ToolResult, tool: RegisteredTool | undefined): boolean {
  if (metadata?.["ran"] !== true) return true
  if (tool === undefined || tool.kind === "composite") return false
  return tool.effect === "none" || tool.effect === "read" || tool.idempotent
}

const then =
  "If it has happened, the pipeline goes on without its result. If it has not happened, it is called again. If you cannot tell, the step fails."

/** Asks a person what became of a call that was cut short. */
export async function askWhatBecame(
  { callId, tool, input }: { callId: string; tool: string; input: unknown },
  call: (request: { tool: string; input: unknown; fromLoop: true }) => Promise<ToolResult | Ticket | TreatedAsDone>,
): Promise<"again" | "done" | "unknown" | Ticket> {
  const about = { call: callId, tool, input: JSON.stringify(input), then }
  const ended = await call({ tool: interruptedToolName, input: about, fromLoop: true })
  if ("treatedAsDone" in ended) return "unknown"
  if (isTicket(ended)) return ended
  const answer = ended.success ? (ended.result as { answer: string }).answer : undefined
  if (answer === interruptedAnswers.notRun) return "again"
  return answer === interruptedAnswers.ran ? "done" : "unknown"
}
