import type { PipelinePlan, PlannedStep } from "../../../../agents/pipeline/tool-pipeline.ts"
import { counted } from "../../../../lib/counted.ts"
import { printable } from "../../../../lib/printable.ts"
import type { TerminalStyle } from "../../../../lib/terminal-style.ts"
import { callText, onOneLine } from "../../terminal/call-line.ts"
import { wrap } from "../chat/layout.ts"
import { cutTo, padTo, width } from "../../terminal/width.ts"

/** The steps in the order of their waves, each with the verdict on it and, below, what decides it. */
export function planText(
  { name, waves, steps }: PipelinePlan,
  { file, agentId, columns, paint }: { file: string; agentId: string; columns: number; paint: TerminalStyle },
): string {
  const asked = steps.filter(({ verdict }) => verdict === "ask").length
  const asks = asked === 0 ? "" : ` ${asked} ${asked === 1 ? "asks" : "ask"} a person.`
  const title = `${paint.bold(onOneLine(name ?? file))}: ${stepsInWaves({ waves, steps })}, as agent ${printable(agentId)}.${asks} Nothing was run.`
  const idWidth = Math.max(...steps.map(({ id }) => width(printable(id))))
  const colours = { allow: paint.green, ask: paint.yellow, deny: paint.red, open: paint.dim }
  const indent = waves.length.toString().length + 2
  const rows = steps.flatMap((step, place) => {
    const { wave, id, verdict, tool, input } = step
    const number = steps[place - 1]?.wave === wave ? "" : String(wave)
    const label = `${padTo(number, indent)}${padTo(printable(id), idWidth)}  `
    const room = Math.max(20, columns - width(label) - verdictWidth)
    const call = cutTo(callText(tool, withReferences(input)), room)
    const below = wrap(noteOf(step), room).filter((row) => row !== "")
    const margin = " ".repeat(width(label) + verdictWidth)
    const [line, ...notes] = [call, ...below.map((row) => `${margin}${paint.dim(row)}`)]
    return [`${label}${colours[verdict](padTo(verdict, verdictWidth))}${line}`, ...notes]
  })
  return [title, "", ...rows].join("\n")
}

/** That nothing is wrong. */
export function checkedText(plan: PipelinePlan, { file, agentId }: { file: string; agentId: string }): string {
  return `${file} has no mistakes (${stepsInWaves(plan)}), and agent ${agentId} may make its calls.`
}

/** `7 steps in 4 waves` */
function stepsInWaves({ steps, waves }: Pick<PipelinePlan, "steps" | "waves">): string {
  return `${counted(steps.length, "step")} in ${counted(waves.length, "wave")}`
}

const verdictWidth = "allow".length + 2

/** An input in which a reference is only its text, `find#/files/0`, and what was given the value itself. */
function withReferences(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const { $from: from, $literal: literal } = value as { $from?: unknown; $literal?: unknown }
  if (typeof from === "string") return from
  if (literal !== undefined) return literal
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withReferences(each)]))
}

/** Describes the step's condition, the reason of its question, and the steps that may change that. */
function noteOf({ verdict, reason, dependsOn, condition }: PlannedStep): string {
  const words = [
    ...(condition === undefined ? [] : [`Only if ${condition}.`]),
    ...(verdict === "ask" && reason !== undefined ? [reason] : []),
    ...(dependsOn === undefined ? [] : [`What ${dependsOn.join(", ")} gives may change the verdict.`]),
  ]
  return onOneLine(words.join(" "))
}
