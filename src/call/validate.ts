import type { Alias } from "../model/dialect.ts"
import { Ending } from "../model/ending.ts"
import { plainProblems } from "../model/plain.ts"
import { renamed } from "../model/renamed.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { toNative } from "./dialect.ts"
import type { Walk } from "./walk.ts"

/** The input with its defaults, or every problem at once. Nothing is coerced. */
export function validate(walk: Walk, tool: RegisteredTool): unknown {
  if (walk.problems.length > 0) throw invalid(tool, walk.problems)
  // What is stored is the tool's own already.
  if (walk.alias !== undefined && walk.row === undefined) {
    const problems = [
      ...plainProblems(walk.request.input ?? {}),
      ...toNative(walk, walk.alias, walk.request.input ?? {}),
    ]
    if (problems.length > 0) throw invalid(tool, problems, walk.alias.name)
  }
  return check(tool, givenInput(walk), walk.alias)
}

/** What the call was made with: nothing and null are an empty input, except where a person gave it. */
export function givenInput({ request, row }: Walk): unknown {
  return row?.card.editedBy === undefined ? (request.input ?? {}) : request.input
}

/** The same for an input that did not come with the request: an edited or a stored one. */
export function check(tool: RegisteredTool, given: unknown, alias?: Alias): unknown {
  const unfit = plainProblems(given)
  if (unfit.length > 0) throw invalid(tool, unfit)
  const checked = tool.input.check(given)
  if (checked.ok) return checked.value
  const names = alias?.names ?? {}
  const problems = checked.problems.map((problem) => renamed(problem, names, { quoted: true }))
  throw invalid(tool, problems, alias?.name)
}

function invalid(tool: RegisteredTool, problems: readonly string[], name = tool.name): Ending {
  return new Ending("invalid_arguments", `Validation failed: ${listed(problems)}. Correct the input of ${name}.`, {
    metadata: { problems },
  })
}

/** In one sentence: a problem that is a sentence of its own gives up its full stop. */
function listed(problems: readonly string[]): string {
  const parts = problems.map((problem) => (problem.endsWith(".") ? `${problem.slice(0, -1)}; ` : `${problem}, `))
  return parts.join("").slice(0, -2)
}
