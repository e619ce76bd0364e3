import type { PendingItem, Question, QuestionDecision } from "../../core/approval.ts"
import { cardLines } from "./card.ts"
import { oneLine } from "./card-rows.ts"
import { choose, runPrompt, showCard, type Screen } from "./dialog.ts"
import { agreeToOpen, fillInForm, rejection } from "./form-dialog.ts"

/** Asks a form, an address or a plain question; undefined if the dialog was closed. */
export async function askQuestion(
  screen: Screen,
  question: Question,
  lines: () => readonly string[],
): Promise<QuestionDecision | undefined> {
  if (question.form !== undefined) return fillInForm(screen, question.form, lines)
  if (question.url !== undefined) return agreeToOpen(screen, lines())
  return (await showCard(screen, lines)) ? askPlainQuestion(screen, question) : undefined
}

/** Shows a question that can be left for later, and asks it only when the person wants to answer. */
export async function askAboutQuestion(screen: Screen, item: PendingItem): Promise<QuestionDecision | undefined> {
  const question = item.question ?? { question: "" }
  if (question.url !== undefined) return agreeToOpen(screen, cardLines(item, screen))
  const words = { a: "answer", r: "reject", s: "show whole" }
  let lines = cardLines(item, screen)
  for (;;) {
    const key = await choose(screen, lines, "Answer the question?", words, screen.escape)
    lines = []
    if (key === undefined) return undefined
    if (key === "s") lines = cardLines(item, { ...screen, whole: true })
    else {
      const decision = await (key === "r" ? rejection(screen) : answerQuestion(screen, question))
      if (decision !== undefined) return decision
    }
  }
}

function answerQuestion(screen: Screen, question: Question): Promise<QuestionDecision | undefined> {
  return question.form === undefined ? askPlainQuestion(screen, question) : fillInForm(screen, question.form)
}

async function askPlainQuestion(
  screen: Screen,
  { options = [], multiple }: Question,
): Promise<QuestionDecision | undefined> {
  const choices = options.map((value) => ({ value, label: oneLine(value, 200) }))
  const answer = await runPrompt<string | string[]>(screen, (prompts, common) => {
    if (choices.length === 0) return prompts.text({ ...common, message: "Your answer:", defaultValue: "" })
    return multiple === true
      ? prompts.multiselect({ ...common, message: "Choose one or more:", options: choices, required: true })
      : prompts.select({ ...common, message: "Choose one:", options: choices })
  })
  return answer === undefined ? undefined : { answer }
}
