import { isTicket, type Ticket, type ToolResult } from "../../core/result.ts"
import { interruptedAnswers, interruptedToolName } from "./loop-tools.ts"
import { requestOf, type CallContext } from "./call-context.ts"

/** A call of a resumed conversation whose process was killed while it ran. */
export interface InterruptedCall {
  place: number
  name: string
  input: unknown
  callId: string
}

export function isInterrupted({ code, metadata }: ToolResult): boolean {
  return code === "interrupted" && metadata?.["ran"] === true
}

/** Asks a person what became of the calls. Returns what to tell the model, by place, or tickets of questions that wait. */
export async function askAboutInterrupted(
  calls: readonly InterruptedCall[],
  turn: number,
  context: CallContext,
): Promise<{ told: ReadonlyMap<number, string> } | { waiting: Ticket[] }> {
  const { app, waitMs, clock, request } = context
  const asked = calls.map(({ place, name, input, callId }) => {
    const about = { call: callId, tool: name, input: JSON.stringify(input) }
    const key = `${request.sessionId}/${turn}/${place}/interrupted`
    return { ...requestOf(context, interruptedToolName, about, key), fromLoop: true, holdResult: undefined }
  })
  const ended = await app.callMany(asked, { waitMs, clock })
  const waiting = ended.filter(isTicket)
  if (waiting.length > 0) return { waiting }
  return { told: new Map(calls.map(({ place }, index) => [place, sentenceFor(ended[index] as ToolResult)])) }
}

function sentenceFor({ success, result }: ToolResult): string {
  const answer = success ? (result as { answer: string }).answer : undefined
  if (answer === interruptedAnswers.ran) return "A person checked: it has happened. Do not make this call again."
  if (answer === interruptedAnswers.notRun)
    return "A person checked: it has not happened. You may make this call again."
  return "Nobody could say whether it has happened. Do not make this call again unless the user asks you to."
}
