import type { Alias } from "../../registry/dialects/dialect.ts"
import { Ending } from "../../core/ending.ts"
import { plainProblems } from "../../schema/json-problems.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { toNativeInput } from "../state/dialect.ts"
import type { ActiveCall } from "../state/active-call.ts"

/** Returns the input with its defaults, or ends the call with every problem at once. Nothing is coerced. */
export function validate(call: ActiveCall, tool: RegisteredTool): unknown {
  if (call.problems.length > 0) throw invalid(tool, call.problems)
  // A stored input is in the tool's own format already.
  if (call.alias !== undefined && call.row === undefined) {
    const problems = [
      ...plainProblems(call.request.input ?? {}),
      ...toNativeInput(call, call.alias, call.request.input ?? {}),
    ]
    if (problems.length > 0) throw invalid(tool, problems, call.alias.name)
  }
  return checkInput(tool, givenInput(call), call.alias)
}

/** The call's input. A missing one or null counts as {}, unless a person edited the input to be so. */
export function givenInput({ request, row }: ActiveCall): unknown {
  return row?.card.editedBy === undefined ? (request.input ?? {}) : request.input
}

/** Checks an input against the schema of the tool. */
export function checkInput(tool: RegisteredTool, given: unknown, alias?: Alias): unknown {
  const notJson = plainProblems(given)
  if (notJson.length > 0) throw invalid(tool, notJson)
  const checked = tool.input.check(given)
  if (checked.ok) return checked.value
  if (typeof given === "string") throw invalid(tool, [notAnObject], alias?.name)
  throw invalid(tool, checked.problems, alias?.name)
}

const notAnObject = "The input is a text that is not a JSON object; it may have been cut off"

function invalid(tool: RegisteredTool, problems: readonly string[], name = tool.name): Ending {
  return new Ending(
    "invalid_arguments",
    `Validation failed: ${listed(problems).replace(/(?<!\?)$/, ".")} Correct the input of ${name}.`,
    {
      metadata: { problems },
    },
  )
}

/** The problems in one sentence. */
function listed(problems: readonly string[]): string {
  const parts = problems.map((problem) =>
    problem.endsWith("?") ? `${problem} ` : problem.endsWith(".") ? `${problem.slice(0, -1)}; ` : `${problem}, `,
  )
  return parts.join("").replace(/[,;]? $/, "")
}
