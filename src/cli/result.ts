import { ToolExecuteStatus, type Ticket, type ToolResult } from "../model/result.ts"
import type { Session } from "./house.ts"
import { jsonText, say } from "./output.ts"
import { clock } from "./since.ts"
import type { Stream } from "./stream.ts"

/** Shows an ended call: its result on stdout, what went wrong on stderr. What a person held back is not shown. */
export function showResult(session: Session, result: ToolResult, stream: Stream, write: (text: string) => void): void {
  const { house, flags } = session
  stream.end()
  const { result: value, ...withoutValue } = result
  if (flags.json) {
    const withheld = result.status === ToolExecuteStatus.RESULT_REJECTED
    write(`${jsonText(withheld ? withoutValue : result, house)}\n`)
  } else if (!result.success) sayFailure(session, result)
  else if (value !== undefined && !isShown(result, stream)) write(`${resultText(session, unread(value, stream))}\n`)
}

/** What was streamed is not shown a second time, unless its pieces were held back and the whole is not. */
function isShown({ metadata }: ToolResult, stream: Stream): boolean {
  return metadata?.["streamed"] === true && !stream.heldBack
}

/** A result without the texts that were read while the command printed them. */
function unread(value: unknown, { printed, heldBack }: Stream): unknown {
  if (printed.size === 0 || heldBack || typeof value !== "object" || value === null || Array.isArray(value))
    return value
  const isRead = ([name, text]: [string, unknown]) => {
    return (name === "stdout" || name === "stderr") && text === (printed.get(name) ?? "")
  }
  return Object.fromEntries(Object.entries(value).filter((entry) => !isRead(entry)))
}

/** Shows a call that waits on without this process. */
export function showTicket(session: Session, ticket: Ticket, stream: Stream, write: (text: string) => void): void {
  stream.end()
  if (session.flags.json) write(`${jsonText(ticket, session.house)}\n`)
  else {
    const { callId, until } = ticket
    const end = Number.isFinite(until) ? ` until ${clock(until)}` : ""
    say(session, `Call ${callId} waits for a person${end}. 'qm approvals show ${callId}' shows it.`)
    say(session, "Make the same call again once it is answered: it takes the answer.")
  }
}

/** A text as it is (made safe where it meets a terminal), anything else as JSON. */
function resultText({ io, house }: Session, value: unknown): string {
  if (typeof value !== "string") return jsonText(value, house, 2)
  return (io.stdout.isTTY ? house.printable(value) : value).replace(/\n$/, "")
}

function sayFailure(session: Session, { code, error, metadata, toolName }: ToolResult): void {
  const problems = code === "invalid_arguments" ? metadata?.["problems"] : undefined
  if (Array.isArray(problems)) {
    problems.forEach((problem) => say(session, String(problem)))
    say(session, `Nothing was executed. 'qm tools show ${toolName}' says what it takes.`)
    return
  }
  say(session, error ?? "The call failed.")
}
