import { withoutImages } from "../../../../core/result-image.ts"
import { ToolExecuteStatus, type Ticket, type ToolResult } from "../../../../core/result.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import type { CliContext } from "../../common/context.ts"
import { printMessage } from "../../common/output.ts"
import { formatTime } from "../../common/time-text.ts"
import type { LiveOutput } from "./live-output.ts"

/** Shows an ended call: its result on stdout, an error on stderr. A withheld result is not shown. */
export function showResult(
  context: CliContext,
  result: ToolResult,
  live: LiveOutput,
  write: (text: string) => void,
): void {
  const { flags } = context
  live.end()
  const { result: value, ...withoutValue } = result
  if (flags.json) {
    const withheld = result.status === ToolExecuteStatus.RESULT_REJECTED
    write(`${printableJson(withheld ? withoutValue : result)}\n`)
  } else if (!result.success) printFailure(context, result)
  else if (value !== undefined && !isShown(result, live)) printValue(context, withoutShown(value, live), write)
}

/** A terminal gets the text of a result as text, with its other fields on stderr; a pipe gets everything as JSON. */
function printValue(context: CliContext, value: unknown, write: (text: string) => void): void {
  const { stdout, stderr } = context.io
  const found = stdout.isTTY ? textIn(value) : undefined
  write(`${resultText(context, found?.text ?? value)}\n`)
  const facts = Object.entries(found?.others ?? {}).filter(([, fact]) => fact !== undefined)
  const others = facts.map(([name, fact]) => `${name} ${String(fact)}`)
  if (others.length > 0) stderr.write(`${printable(`(${others.join(", ")})`)}\n`)
}

/** A result that is one text, its `content`, with some facts about it. */
function textIn(value: unknown): { text: string; others: object } | undefined {
  if (typeof value !== "object" || value === null) return undefined
  const { content: text, ...others } = value as Record<string, unknown>
  const isFact = (field: unknown) => (typeof field === "string" ? !field.includes("\n") : Object(field) !== field)
  return typeof text === "string" && Object.values(others).every(isFact) ? { text, others } : undefined
}

/** Reports whether the result was already streamed to stdout. */
function isShown({ metadata }: ToolResult, live: LiveOutput): boolean {
  return metadata?.["streamed"] === true && !live.heldBack
}

/** The result without the output that was already shown while the command ran. */
function withoutShown(value: unknown, { printed, heldBack }: LiveOutput): unknown {
  if (printed.size === 0 || heldBack || typeof value !== "object" || value === null || Array.isArray(value))
    return value
  const isRead = ([name, text]: [string, unknown]) => {
    return (name === "stdout" || name === "stderr") && text === (printed.get(name) ?? "")
  }
  return Object.fromEntries(Object.entries(value).filter((entry) => !isRead(entry)))
}

/** Shows a call that keeps waiting after this process ends. */
export function showTicket(context: CliContext, ticket: Ticket, live: LiveOutput, write: (text: string) => void): void {
  live.end()
  if (context.flags.json) write(`${printableJson(ticket)}\n`)
  else {
    const { callId, until } = ticket
    const end = Number.isFinite(until) ? ` until ${formatTime(until)}` : ""
    printMessage(context, `Call ${callId} waits for a person${end}. 'qm approvals show ${callId}' shows it.`)
    printMessage(context, "When it is answered, repeat the same call to use the answer.")
  }
}

/** Text as it is (escaped on a terminal), anything else as JSON, without the bytes of images. */
function resultText({ io }: CliContext, value: unknown): string {
  if (typeof value !== "string") return printableJson(withoutImages(value), 2)
  return (io.stdout.isTTY ? printable(value) : value).replace(/\n$/, "")
}

function printFailure(context: CliContext, { code, error, metadata, toolName }: ToolResult): void {
  const problems = code === "invalid_arguments" ? metadata?.["problems"] : undefined
  if (Array.isArray(problems)) {
    problems.forEach((problem) => printMessage(context, String(problem)))
    printMessage(context, `Nothing was executed. 'qm tools show ${toolName}' shows its parameters.`)
    return
  }
  const isDenied = code === "permission_denied" || code === "tool_not_available"
  const forPeople = (error ?? "The call failed.")
    .replace(listTheTools, "'qm tools list' shows what there is.")
    .replace(notAgain, "")
  printMessage(context, isDenied ? `${forPeople} 'qm why ${toolName} …' says what would change that.` : forPeople)
}

/** A sentence for models, which have no command line and repeat themselves. */
const notAgain = / Do not try the same call again(?:;[^.]*)?\.$/
const listTheTools = "List the tools to see what there is."
