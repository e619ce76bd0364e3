import { expect, test } from "vitest"
import { ToolExecuteStatus } from "../../../../core/result.ts"
import { endingText } from "./ending-text.ts"

const { SUCCESS, ERROR, EXECUTION_REJECTED, RESULT_REJECTED } = ToolExecuteStatus

test.each([
  ["call", SUCCESS, true, false, "It ran."],
  ["call", ERROR, true, false, "It failed: No such file."],
  ["call", EXECUTION_REJECTED, false, false, "It did not run: No such file."],
  ["call", SUCCESS, true, true, "The conversation goes on."],
  ["call", EXECUTION_REJECTED, false, true, "The conversation does not go on."],
  ["question", SUCCESS, true, true, "The agent is told."],
  ["question", EXECUTION_REJECTED, false, false, "The agent is told that there is no answer."],
  ["result", SUCCESS, true, false, "The model gets the result."],
  ["result", RESULT_REJECTED, true, false, "The model does not get the result."],
] as const)("the answer to a %s that ended as %s (it ran: %s, a conversation asks: %s) means: %s", (...row) => {
  const [kind, status, ran, asks, text] = row
  const error = status === SUCCESS ? undefined : "No such file."
  expect(endingText({ kind }, { status, ran, error }, asks)).toBe(text)
})
