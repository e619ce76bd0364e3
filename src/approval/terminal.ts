import type { ApprovalUIAdapter, Ask, DeskItem, Question, QuestionDecision } from "../model/approval.ts"
import type { Reason } from "../model/record.ts"
import { askAboutCall } from "./call-dialog.ts"
import { cardLines } from "./card.ts"
import { oneLine, theirRows } from "./card-rows.ts"
import { alone, isThere, prompted, say, type Screen, type Terminal } from "./dialog.ts"
import { agreeToOpen, fillIn } from "./form-dialog.ts"
import { forgetKeys } from "./keys.ts"
import { penFor } from "./pen.ts"
import { questionRows } from "./question-rows.ts"
import { askAboutResult } from "./result-dialog.ts"

export type { Terminal } from "./dialog.ts"

const closedQuestion = "the question was closed without an answer"

/** Asks in the terminal. Without one, or when the dialog is closed, the answer is no. */
export function terminalAdapter(terminal: Terminal): ApprovalUIAdapter {
  const by = terminal.by ?? "terminal"
  const closed = { approved: false, rejectReason: "The dialog was closed.", by }
  const absent = (what: string) => `A person must ${what}, and there is no terminal to ask in.`

  async function shown<Decision extends { approved: boolean }>(
    signal: AbortSignal,
    ask: (screen: Screen) => Promise<Decision | undefined>,
  ) {
    return alone(terminal, signal, async (screen) => {
      if (!isThere(terminal)) return { approved: false, rejectReason: absent("agree"), by: "nobody" }
      const decision = await ask(screen)
      return decision === undefined ? closed : { ...decision, by }
    })
  }

  return {
    async showToolExecutionApproval(tool, description, input, level, request) {
      if (terminal.yes === true && level !== "sensitive" && !request.reasons.some(isBinding)) {
        return { approved: true, by: "--yes" }
      }
      const item: DeskItem = { ...request, kind: "call", tool, description, input, level }
      return shown(request.signal, (screen) => askAboutCall(screen, item))
    },
    async showToolResultApproval(tool, input, result, request) {
      const item: DeskItem = { ...request, kind: "result", tool, input, result }
      return shown(request.signal, (screen) => askAboutResult(screen, item))
    },
    async showQuestion(question, request) {
      if (!isThere(terminal)) return { rejectReason: absent("answer"), by: "nobody" }
      const item: DeskItem = { ...request, kind: "question", question }
      const decision = await alone(terminal, request.signal, (screen) =>
        decisionOn(screen, question, () => cardLines(item, screen)),
      )
      return { ...(decision ?? { rejectReason: closedQuestion }), by }
    },
  }
}

/** Puts a question of ask_user to whoever sits at the terminal. */
export function terminalAsk(terminal: Terminal): Ask {
  return ({ signal, ...question }) =>
    alone(terminal, signal, async (screen) => {
      if (!isThere(terminal)) throw new Error("there is no terminal to ask in")
      const decision = await decisionOn(screen, question, () => questionLines(question, screen))
      if (decision?.answer === undefined) throw new Error(decision?.rejectReason ?? closedQuestion)
      return decision.answer
    })
}

function questionLines(question: Question, screen: Screen): string[] {
  if (question.form !== undefined || question.url !== undefined) return questionRows(question, penFor(screen))
  const limit = { characters: Infinity, lines: Infinity }
  return theirRows(question.question, { columns: screen.columns, limit }).rows
}

function isBinding(reason: Reason): boolean {
  return reason.binding === true
}

/** A form is filled in, an address agreed to, anything else answered; undefined when the dialog was closed. */
async function decisionOn(
  screen: Screen,
  question: Question,
  lines: () => readonly string[],
): Promise<QuestionDecision | undefined> {
  if (question.form !== undefined) return fillIn(screen, question.form, lines)
  if (question.url !== undefined) return agreeToOpen(screen, lines())
  const answer = await answerTo(screen, question, lines)
  return answer === undefined ? undefined : { answer }
}

async function answerTo(
  screen: Screen,
  { options = [], multiple }: Question,
  lines: () => readonly string[],
): Promise<string | string[] | undefined> {
  const { terminal, signal } = screen
  const choices = options.map((value) => ({ value, label: oneLine(value, 200) }))
  return prompted<string | string[] | undefined>(screen, async (prompts, common) => {
    if ((await forgetKeys(terminal, signal)) !== undefined) return undefined
    // Before anything is shown, so that what is typed at once is not echoed between the lines.
    terminal.input.setRawMode(true)
    say(screen, ["", ...lines()])
    if (choices.length === 0) return prompts.text({ ...common, message: "Your answer:", defaultValue: "" })
    return multiple === true
      ? prompts.multiselect({ ...common, message: "Choose one or more:", options: choices, required: true })
      : prompts.select({ ...common, message: "Choose one:", options: choices })
  })
}
