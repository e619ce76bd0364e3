import { counted } from "../../lib/counted.ts"
import type { EndingCode } from "../../core/result.ts"
import type { CallableTool, ReflectedAction, Reflection, ReflectionInput, Reflector } from "./reflector.ts"

/** The tool as a whole was refused, or a person does not want it to be called now. */
const refusesTool = new Set<EndingCode | undefined>([
  "approval_rejected",
  "approval_expired",
  "permission_denied",
  "tool_not_available",
])

/** One path, command, host or result was refused. The tool is given up when that happens a second time. */
const refusesInput = new Set<EndingCode | undefined>([
  "path_outside_workspace",
  "command_denied",
  "host_denied",
  "result_withheld",
])

const passes = new Set<EndingCode | undefined>(["timeout", "upstream_unavailable", "rate_limited"])

/**
 * Reflects by fixed rules:
 *
 * - denied or rejected: replan without that tool
 * - transient, after its retries: replan with its fallback, or with another tool of its group and effect
 * - any other failure, and every failed step that no step left needs: continue
 * - nothing left that can be called: complete
 */
export const ruleReflector: Reflector = {
  reflect(input: ReflectionInput): Reflection {
    const { failures, tools } = input
    const withoutTools = givenUp(input)
    const left = tools.filter(({ name }) => !withoutTools.includes(name))
    const notes = failures.map((failure) => noteOn(failure, withoutTools, input, left))
    const about = {
      assessment: assessmentOf(failures),
      lessons: [...new Set(notes.map(({ lesson }) => lesson))],
      toolFailures: failures.map(({ toolName, error = "" }, place) => ({
        toolName,
        error,
        ...(notes[place]!.suggestion !== undefined && { suggestion: notes[place]!.suggestion }),
      })),
      ...(withoutTools.length > 0 && { withoutTools }),
    }
    const verdict = verdictOn(input, withoutTools, left)
    if (verdict === "continue") return { verdict, ...about }
    if (verdict === "complete") return { verdict, ...about, nextFocus: nothingLeft }
    const suggestions = [...new Set(notes.flatMap(({ suggestion }) => suggestion ?? []))]
    return { verdict, ...about, nextFocus: suggestions.join(" ") }
  },
}

const nothingLeft = "Nothing is left that can be called. Answer with what you have, and say what is left to do."

function verdictOn(
  { failures, stepsLeft }: ReflectionInput,
  withoutTools: readonly string[],
  left: readonly CallableTool[],
): Reflection["verdict"] {
  if (stepsLeft === undefined) {
    if (left.length === 0) return "complete"
    return failures.some((failure) => isRefused(failure) || isTransient(failure)) ? "replan" : "continue"
  }
  if (stepsLeft.length === 0) return "complete"
  const failed = new Set(failures.map(({ stepId }) => stepId))
  const isBlocked = stepsLeft.some(
    ({ toolName, needs = [] }) =>
      needs.some((id) => failed.has(id)) || (toolName !== undefined && withoutTools.includes(toolName)),
  )
  if (!isBlocked) return "continue"
  return left.length === 0 ? "complete" : "replan"
}

/** The tools that are not to be called any more. A frozen agent can call none. */
function givenUp({ failures, actionsDone, tools }: ReflectionInput): string[] {
  if (failures.some(({ code }) => code === "frozen")) return tools.map(({ name }) => name)
  const timesRefused = (name: string) =>
    actionsDone.filter(({ toolName, code }) => toolName === name && refusesInput.has(code)).length
  const names = failures
    .filter(({ code, toolName }) => refusesTool.has(code) || (refusesInput.has(code) && timesRefused(toolName) > 1))
    .map(({ toolName }) => toolName)
  return [...new Set(names)]
}

function isRefused({ code }: ReflectedAction): boolean {
  return refusesTool.has(code) || refusesInput.has(code) || code === "frozen"
}

function isTransient({ transient, code }: ReflectedAction): boolean {
  return transient === true || passes.has(code)
}

function assessmentOf(failures: readonly ReflectedAction[]): string {
  const names = [...new Set(failures.map(({ toolName }) => toolName))].join(", ")
  return failures.length === 1
    ? `A call of ${names} did not succeed.`
    : `${counted(failures.length, "call")} did not succeed: ${names}.`
}

/** Returns the lesson of a failure, and the alternative. */
function noteOn(
  failure: ReflectedAction,
  withoutTools: readonly string[],
  { tools, failures }: ReflectionInput,
  left: readonly CallableTool[],
): { lesson: string; suggestion?: string } {
  const { toolName } = failure
  if (withoutTools.includes(toolName)) {
    return {
      lesson: `${toolName} was refused and is no longer offered.`,
      suggestion: "Find another way to the goal that would be agreed to, or say what cannot be done.",
    }
  }
  if (isRefused(failure)) {
    return {
      lesson: `${toolName} was refused for what it was called with.`,
      suggestion: `Do not call ${toolName} like that again.`,
    }
  }
  if (!isTransient(failure)) return { lesson: `${toolName} failed.` }
  const failed = new Set(failures.map((each) => each.toolName))
  const others = insteadOf(
    toolName,
    tools,
    left.filter(({ name }) => !failed.has(name)),
  )
  const lesson = `${toolName} does not work at the moment.`
  return others.length === 0
    ? { lesson, suggestion: `Do something else first, or say what cannot be done without ${toolName}.` }
    : { lesson, suggestion: `Use ${others.join(" or ")} instead of ${toolName}.` }
}

const mostSuggested = 3

/** Its fallbacks; else the tools of the same group and effect. */
function insteadOf(name: string, tools: readonly CallableTool[], left: readonly CallableTool[]): string[] {
  const tool = tools.find((each) => each.name === name)
  if (tool === undefined) return []
  const fallbacks = left.filter((each) => tool.fallbacks.includes(each.name))
  const alike = left.filter((each) => each.group === tool.group && each.effect === tool.effect)
  return (fallbacks.length > 0 ? fallbacks : alike).slice(0, mostSuggested).map((each) => each.name)
}
