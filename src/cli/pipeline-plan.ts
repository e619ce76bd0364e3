import type { PipelinePlan, PlannedStep } from "../agents/pipeline/tool-pipeline.ts"
import { callText } from "./call-line.ts"
import type { CliContext } from "./context.ts"
import { columnsOf, table } from "./table.ts"

/** The order of the steps, with the verdict on each. */
export function planText(
  { name, waves, steps }: PipelinePlan,
  { file, agentId }: { file: string; agentId: string },
  { io }: CliContext,
): string {
  const rows = steps.map(({ wave, id, verdict, tool, input }) => {
    return [String(wave), id, verdict, callText(tool, withReferences(input))]
  })
  const head = ["wave", "step", "verdict", "call"].map((title) => ({ title }))
  const asked = steps.filter(({ verdict }) => verdict === "ask").length
  const asks = asked === 0 ? "" : ` ${asked} ${asked === 1 ? "asks" : "ask"} a person.`
  const notes = steps.flatMap((step) => noteOf(step))
  return [
    `${name ?? file}: ${stepsInWaves({ waves, steps })}, as agent ${agentId}.${asks} Nothing was run.`,
    "",
    table(head, rows, columnsOf(io.stdout)),
    ...(notes.length === 0 ? [] : ["", ...notes]),
  ].join("\n")
}

export function stepsInWaves({ steps, waves }: Pick<PipelinePlan, "steps" | "waves">): string {
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`
  return `${count(steps.length, "step")} in ${count(waves.length, "wave")}`
}

/** An input in which a reference is only its text: `find#/files/0`. */
function withReferences(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const { $from: from } = value as { $from?: unknown }
  if (typeof from === "string") return from
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withReferences(each)]))
}

/** What the table has no room for: `write: It asks. Tool write_file is sensitive, so …` */
function noteOf({ id, verdict, reason, dependsOn, condition }: PlannedStep): string[] {
  const words = [
    ...(condition === undefined ? [] : [`It runs if ${condition}.`]),
    ...(dependsOn === undefined ? [] : [`What ${dependsOn.join(", ")} gives may change the verdict.`]),
    ...(verdict === "ask" && reason !== undefined ? [`It asks. ${reason}`] : []),
  ]
  return words.length === 0 ? [] : [`${id}: ${words.join(" ")}`]
}
