import type { SettledAnswer } from "../../core/call.ts"
import { Ending } from "../../core/ending.ts"
import { toolRef, dialectText } from "../../core/dialect-text.ts"

/** The ending of a call that a person rejected. An unanswered question fails with the sentence of the source design. */
export function rejectedEnding(
  tool: string,
  isQuestion: boolean,
  { by, rejectReason = "No reason was given." }: SettledAnswer,
): Ending {
  if (isQuestion) {
    return new Ending("tool_failed", `Failed to get user input: ${rejectReason}`, { toolCode: "no_answer" })
  }
  const subject = by === "nobody" ? "Nobody agreed to" : `A person (${by}) rejected`
  return new Ending("approval_rejected", dialectText`${subject} the call of ${toolRef(tool)}: ${rejectReason}`, {
    rejectReason,
  })
}

/** The ending of a call that was not answered in time. */
export function unansweredEnding(tool: string): Ending {
  return new Ending("approval_expired", dialectText`Nobody answered in time, so ${toolRef(tool)} was not executed.`)
}

/** The ending of a call whose result a person withheld. */
export function withheldEnding(tool: string, answer: SettledAnswer | undefined, result?: unknown): Ending {
  const by = answer?.by ?? "nobody"
  const rejectReason =
    answer === undefined ? "Nobody released it in time." : (answer.rejectReason ?? "No reason was given.")
  const sentence = dialectText`The result of ${toolRef(tool)} is withheld by a person (${by}): ${rejectReason}`
  return new Ending("result_withheld", sentence, { rejectReason, result })
}
