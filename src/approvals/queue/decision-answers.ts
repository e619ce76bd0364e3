import type { Answer, ExecutionDecision, PendingItem, QuestionDecision, ResultDecision } from "../../core/approval.ts"

/** The answer that a decision about a call is. What cannot be remembered is not. */
export function answerToCall(
  decision: ExecutionDecision,
  { remember: offered }: Pick<PendingItem, "remember">,
): Answer {
  const { approved, persistDecision, edit, minutes, note, rejectReason: reason } = decision
  if (edit !== undefined) return { kind: "edit", input: edit.input }
  const wanted = decision.remember ?? (persistDecision === true ? "tool-session" : undefined)
  const remember = offered.find(({ scope }) => scope === wanted)?.scope
  return approved === true
    ? { kind: "approve", note, remember, minutes }
    : { kind: "reject", reason, remember, minutes }
}

/** The answer that a decision about a held result is. */
export function answerToResult({ approved, redact, replace, rejectReason: reason }: ResultDecision): Answer {
  return approved === true
    ? { kind: "release", redact, replace: replace && (replace.value ?? null) }
    : { kind: "withhold", reason }
}

/** The answer that a decision about a question is. */
export function answerToQuestion({ answer: value, rejectReason }: QuestionDecision): Answer {
  const reason = rejectReason ?? "the question was closed without an answer"
  return value === undefined ? { kind: "reject", reason } : { kind: "answer", value }
}
