import type { ApprovalRequest, ApprovalUIAdapter, Ask } from "../model/approval.ts"
import type { ToolResult } from "../model/result.ts"
import { wholeCharacters } from "../model/text.ts"
import { printable } from "./printable.ts"

export interface Terminal {
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
  /** Answers yes for tools that are not sensitive, without asking. */
  yes?: boolean
}

const shownLines = 40
const shownCharacters = 4000

/** Asks in the terminal. Without one, or when the prompt is closed, the answer is no. */
export function terminalAdapter(terminal: Terminal): ApprovalUIAdapter {
  return {
    async showToolExecutionApproval(tool, description, args, level, request) {
      if (terminal.yes === true && level !== "sensitive") return { approved: true, by: "--yes" }
      const about = [
        `${request.agentId} (${request.role}) wants to call ${tool} [${level}]`,
        description,
        ...reasons(request),
      ]
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
  return ({ question, options, multiple, signal: given }) =>
    alone(terminal, given, async (signal) => {
      if (!isThere(terminal)) throw new Error("there is no terminal to ask in")
      if (signal.aborted) throw closed()
      const prompts = await import("@clack/prompts")
      const common = { message: printable(question), input: terminal.input, output: terminal.output, signal }
      const choices = options?.map((value) => ({ value, label: printable(value) })) ?? []
      const answer =
        choices.length === 0
          ? await prompts.text(common)
          : multiple === true
            ? await prompts.multiselect({ ...common, options: choices, required: true })
            : await prompts.select({ ...common, options: choices })
      if (prompts.isCancel(answer)) throw closed()
      return answer
    })
}

function closed(): Error {
  return new Error("the question was closed without an answer")
}

function confirm(terminal: Terminal, lines: readonly string[], message: string, given: AbortSignal) {
  return alone(terminal, given, async (signal) => {
    if (!isThere(terminal)) return no("A person must agree, and there is no terminal to ask in.", "nobody")
    if (signal.aborted) return no("The dialog was closed.")
    const prompts = await import("@clack/prompts")
    const shown = lines.flatMap((line) => line.split("\n"))
    terminal.output.write(`\n${shown.map((line) => `  ${printable(line)}`).join("\n")}\n`)
    const common = { input: terminal.input, output: terminal.output, signal }
    const agreed = await prompts.confirm({ ...common, message, initialValue: false })
    if (agreed === true) return { approved: true, by: "terminal" }
    if (prompts.isCancel(agreed)) return no("The dialog was closed.")
    const reason = await prompts.text({ ...common, message: "Why not? (the model reads it)", defaultValue: "" })
    return no(prompts.isCancel(reason) || reason === "" ? "Operation cancelled by user" : reason)
  })
}

function no(rejectReason: string, by = "terminal") {
  return { approved: false, rejectReason, by }
}

const lastTurn = new WeakMap<object, Promise<unknown>>()

/**
 * One dialog at a time in a terminal: a key that answers one must not answer another. Each has a signal of its own,
 * because a prompt that has ended must not hear of an abort: it would take the keyboard from the next one.
 */
async function alone<T>(terminal: Terminal, given: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const close = () => controller.abort()
  const turn = (lastTurn.get(terminal.input) ?? Promise.resolve()).then(async () => {
    if (given.aborted) close()
    given.addEventListener("abort", close)
    return work(controller.signal).finally(() => given.removeEventListener("abort", close))
  })
  lastTurn.set(
    terminal.input,
    turn.catch(() => {}),
  )
  return turn
}

function isThere({ input, output }: Terminal): boolean {
  return input.isTTY && output.isTTY
}

function reasons({ reasons: given }: ApprovalRequest): string[] {
  return given.map((reason) => `because: ${reason.sentence} (${reason.source})`)
}

function resultText(result: ToolResult): string {
  return result.success ? (JSON.stringify(result.result, null, 2) ?? "(no result)") : `Error: ${result.error}`
}

function cut(text: string): string[] {
  const lines = wholeCharacters(text, shownCharacters).split("\n").slice(0, shownLines)
  const left = text.length - lines.join("\n").length
  return left === 0 ? lines : [...lines, `… ${left} more of ${text.length} characters`]
}
