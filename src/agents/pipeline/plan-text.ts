import { counted } from "../../lib/counted.ts"
import type { StepVerdict } from "./check-pipeline.ts"
import type { PipelineProblem } from "./read-definition.ts"
import type { PipelinePlan } from "./tool-pipeline.ts"

/** `report.yml:7: Step 'write' …` */
export function problemText({ place, sentence }: PipelineProblem): string {
  return `${place}: ${sentence}`
}

/** `allow`, or `allow, depends on find` */
export function verdictText({ verdict, dependsOn }: StepVerdict): string {
  return dependsOn === undefined ? verdict : `${verdict}, depends on ${dependsOn.join(", ")}`
}

/** A plan in lines: the waves, each step with its verdict, and what is wrong. */
export function planText({ waves, steps, problems }: PipelinePlan): string {
  const lines = steps.map((step) => {
    const { id, tool, wave, reason } = step
    return `${wave}. ${id} (${tool}): ${verdictText(step)}${reason === undefined ? "" : `. ${reason}`}`
  })
  const sum = `${counted(steps.length, "step")} in ${counted(waves.length, "wave")}; nothing was run.`
  return [...lines, ...problems.map(problemText), sum].join("\n")
}
