import type { ApprovalRequest, ApprovalUIAdapter, Ask, PendingItem, Question } from "../../core/approval.ts"
import type { StoredReason } from "../../core/reason.ts"
import type { ToolPermissionLevel } from "../../core/permission.ts"
import { askAboutCall } from "./call-dialog.ts"
import { cardLines } from "./card.ts"
import { untrustedRows } from "./card-rows.ts"
import { withScreen, isInteractive, type Screen, type Terminal } from "./dialog.ts"
import { cardStyle } from "./card-style.ts"
import { askQuestion } from "./question-dialog.ts"
import { questionRows } from "./question-rows.ts"
import { askAboutResult } from "./result-dialog.ts"

export type { Terminal } from "./dialog.ts"

const closedQuestion = "the question was closed without an answer"

/** Asks in the terminal. Without a terminal, or if the dialog is closed, calls are rejected and results withheld. */
export function terminalAdapter(terminal: Terminal): ApprovalUIAdapter {
  const { by } = terminal
  const closed = { approved: false, rejectReason: "The dialog was closed.", by }
  const noTerminal = (what: string) => `A person must ${what}, and there is no terminal to ask in.`

  let isStopped = false
  const onInterrupt = terminal.onInterrupt && stop
  function stop() {
    isStopped = true
    terminal.onInterrupt?.()
  }

  /** From a Ctrl-C that stops the program on, nothing is shown or answered: what is open stays so until it is closed. */
  function show<Decision>(outer: AbortSignal, ask: (screen: Screen) => Promise<Decision>) {
    const unlessStopped = async (screen: Screen) => {
      const decision = isStopped ? undefined : await ask(screen)
      if (isStopped) await aborted(screen.signal)
      return decision
    }
    return withScreen(terminal, outer, unlessStopped, { onInterrupt })
  }

  async function showDialog<Decision extends { approved: boolean }>(
    signal: AbortSignal,
    ask: (screen: Screen) => Promise<Decision | undefined>,
  ) {
    const decided = await show(signal, async (screen) => {
      if (!isInteractive(terminal)) return { approved: false, rejectReason: noTerminal("agree"), by: "nobody" }
      const decision = await ask(screen)
      return decision && { ...decision, by }
    })
    return decided ?? closed
  }

  return {
    by: "terminal",
    async showToolExecutionApproval(tool, description, input, level, request) {
      if (terminal.yes === true && isCoveredByYes(level, request)) {
        return { approved: true, by: "--yes" }
      }
      const item: PendingItem = { ...request, kind: "call", tool, description, input, level }
      return showDialog(request.signal, (screen) => askAboutCall(screen, item))
    },
    async showToolResultApproval(tool, input, result, request) {
      const item: PendingItem = { ...request, kind: "result", tool, input, result }
      return showDialog(request.signal, (screen) => askAboutResult(screen, item))
    },
    async showQuestion(question, request) {
      if (!isInteractive(terminal)) return { rejectReason: noTerminal("answer"), by: "nobody" }
      const item: PendingItem = { ...request, kind: "question", question }
      const decision = await show(request.signal, (screen) =>
        askQuestion(screen, question, () => cardLines(item, screen)),
      )
      return { ...(decision ?? { rejectReason: closedQuestion }), by }
    },
  }
}

/** Reports whether `--yes` stands for the person: never for a sensitive tool, nor where a rule demands one. */
export function isCoveredByYes(level: ToolPermissionLevel, { reasons }: ApprovalRequest): boolean {
  return level !== "sensitive" && !reasons.some(isBinding)
}

/** Asks the person at the terminal a question of `ask_user`. */
export function terminalAsk(terminal: Terminal): Ask {
  return ({ signal, ...question }) =>
    withScreen(terminal, signal, async (screen) => {
      if (!isInteractive(terminal)) throw new Error("there is no terminal to ask in")
      const decision = await askQuestion(screen, question, () => questionLines(question, screen))
      if (decision?.answer === undefined) throw new Error(decision?.rejectReason ?? closedQuestion)
      return decision.answer
    })
}

function questionLines(question: Question, screen: Screen): string[] {
  if (question.form !== undefined || question.url !== undefined) return questionRows(question, "", cardStyle(screen))
  const limit = { characters: Infinity, lines: Infinity }
  return untrustedRows(question.question, { columns: screen.columns, limit }).rows
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener("abort", () => resolve(), { once: true })
  })
}

function isBinding(reason: StoredReason): boolean {
  return reason.binding === true
}
