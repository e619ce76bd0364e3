import type { ApprovalRequest, ApprovalUIAdapter, Ask } from "../model/approval.ts"
import type { ToolResult } from "../model/result.ts"
import { printable } from "./printable.ts"

export interface Terminal {
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
  /** Answers yes for tools that are not sensitive, without asking. */
  yes?: boolean
}

const shownLines = 40

/** Asks in the terminal. Without one, or when the prompt is closed, the answer is no. */
export function terminalAdapter(terminal: Terminal): ApprovalUIAdapter {
  return {
    async showToolExecutionApproval(tool, description, args, level, request) {
      if (terminal.yes === true && level !== "sensitive") return { approved: true }
      const about = [`${request.agentId} (${request.role}) wants to call ${tool} [${level}]`, description, ...reasons(request)]
      const what = request.preview === undefined ? JSON.stringify(args, null, 2) : request.preview
      return confirm(terminal, [...about, "", ...cut(what)], `Run ${tool}?`, request.signal)
    },
    async showToolResultApproval(tool, _args, result, request) {
      const about = [`${tool} has run for ${request.agentId} (${request.role}). May the model see its result?`]
      return confirm(terminal, [...about, "", ...cut(resultText(result))], "Release the result?", request.signal)
    },
  }
}

/** Puts a question of ask_user to whoever sits at the terminal. */
export function terminalAsk(terminal: Terminal): Ask {
  return async ({ question, options, multiple, signal }) => {
    if (!isThere(terminal)) throw new Error("there is no terminal to ask in")
    const prompts = await import("@clack/prompts")
    const common = { message: printable(question), input: terminal.input, output: terminal.output, signal }
    const choices = options?.map((value) => ({ value, label: printable(value) })) ?? []
    const answer =
      choices.length === 0
        ? await prompts.text(common)
        : multiple === true
          ? await prompts.multiselect({ ...common, options: choices, required: true })
          : await prompts.select({ ...common, options: choices })
    if (prompts.isCancel(answer)) throw new Error("the question was closed without an answer")
    return answer
  }
}

async function confirm(terminal: Terminal, lines: readonly string[], message: string, signal: AbortSignal) {
  if (!isThere(terminal)) return { approved: false, rejectReason: "A person must agree, and there is no terminal to ask in." }
  const prompts = await import("@clack/prompts")
  terminal.output.write(`\n${lines.map((line) => `  ${printable(line)}`).join("\n")}\n`)
  const common = { input: terminal.input, output: terminal.output, signal }
  const agreed = await prompts.confirm({ ...common, message, initialValue: false })
  if (agreed === true) return { approved: true }
  if (prompts.isCancel(agreed)) return { approved: false, rejectReason: "The dialog was closed." }
  const reason = await prompts.text({ ...common, message: "Why not? (the model reads it)", defaultValue: "" })
  const given = prompts.isCancel(reason) || reason === "" ? "Operation cancelled by user" : reason
  return { approved: false, rejectReason: given }
}

function isThere({ input, output }: Terminal): boolean {
  return input.isTTY === true && output.isTTY === true
}

function reasons({ reasons: given }: ApprovalRequest): string[] {
  return given.map((reason) => `because: ${reason.sentence} (${reason.source})`)
}

function resultText(result: ToolResult): string {
  return result.success ? JSON.stringify(result.result, null, 2) : `Error: ${result.error}`
}

function cut(text: string): string[] {
  const lines = text.split("\n")
  if (lines.length <= shownLines) return lines
  return [...lines.slice(0, shownLines), `… ${lines.length - shownLines} more lines, ${text.length} characters in all`]
}
