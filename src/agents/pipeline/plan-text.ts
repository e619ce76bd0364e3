import type { StepVerdict } from "./check.ts"
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

/** `7 steps in 4 waves` */
export function stepsInWaves({ steps, waves }: Pick<PipelinePlan, "steps" | "waves">): string {
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`
  return `${count(steps.length, "step")} in ${count(waves.length, "wave")}`
}

/** A plan in lines: the waves, each step with its verdict, and what is wrong. */
export function planText({ waves, steps, problems }: PipelinePlan): string {
  const lines = steps.map((step) => {
    const { id, tool, wave, reason } = step
    return `${wave}. ${id} (${tool}): ${verdictText(step)}${reason === undefined ? "" : `. ${reason}`}`
  })
  const sum = `${stepsInWaves({ steps, waves })}; nothing was run.`
  return [...lines, ...problems.map(problemText), sum].join("\n")
}
