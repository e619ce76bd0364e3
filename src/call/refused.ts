import type { Answer } from "../model/call.ts"
import { Ending } from "../model/ending.ts"

/** How a call ends that people said no to; a question fails as the source design says. */
export function refused(
  tool: string,
  isQuestion: boolean,
  { by, rejectReason = "No reason was given." }: Answer,
): Ending {
  if (isQuestion) {
    return new Ending("tool_failed", `Failed to get user input: ${rejectReason}`, { toolCode: "no_answer" })
  }
  const said = by === "nobody" ? "Nobody agreed to" : `A person (${by}) rejected`
  return new Ending("approval_rejected", `${said} the call of ${tool}: ${rejectReason}`, { rejectReason })
}

/** How a call ends whose result people held back. */
export function withheld(tool: string, answer: Answer | undefined, result?: unknown): Ending {
  const by = answer?.by ?? "nobody"
  const rejectReason =
    answer === undefined ? "Nobody released it in time." : (answer.rejectReason ?? "No reason was given.")
  const sentence = `The result of ${tool} is withheld by a person (${by}): ${rejectReason}`
  return new Ending("result_withheld", sentence, { rejectReason, result })
}
