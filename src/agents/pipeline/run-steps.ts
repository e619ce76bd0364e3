import type { PipelineDefinition } from "./definition.ts"
import type { Graph } from "./graph.ts"
import { expandReferences, maxReferred } from "./references.ts"
import { lookupIn, runStep, type StepResult, type StepRun } from "./run-step.ts"

/**
 * Runs all steps, each as soon as those it waits for have ended, and resolves when nothing runs any more. How many run at
 * once is the matter of the permits. Results are in the order of the definition.
 */
export async function runSteps(
  { steps }: Graph,
  run: Omit<StepRun, "ended"> & { onEnd?(result: StepResult): void },
): Promise<StepResult[]> {
  const ended = new Map<string, StepResult>()
  const running = new Map<string, Promise<void>>()
  for (const step of steps) {
    const { id } = step.definition
    const before = Promise.all(step.after.map((name) => running.get(name)!))
    running.set(
      id,
      before.then(async () => {
        const result = await runStep(step, { ...run, ended })
        ended.set(id, result)
        run.onEnd?.(result)
      }),
    )
  }
  // Whatever one of them threw, nothing runs any more when this rejects.
  const settled = await Promise.allSettled(running.values())
  for (const each of settled) if (each.status === "rejected") throw each.reason
  return steps.toSorted((a, b) => a.position - b.position).map(({ definition: { id } }) => ended.get(id)!)
}

/** The outputs that the definition names; else the values of the steps that no other step waits for. */
export function outputsOf(
  { outputs }: PipelineDefinition,
  { steps }: Graph,
  results: readonly StepResult[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const ended = new Map(results.map((result) => [result.id, result]))
  if (outputs !== undefined) {
    const lookup = lookupIn({ given, ended })
    let left = maxReferred
    const expanded = Object.entries(outputs).flatMap(([name, value]) => {
      const found = expandReferences(value, lookup, left)
      if ("problem" in found) return []
      left -= found.size
      return [[name, found.value]]
    })
    return Object.fromEntries(expanded) as Record<string, unknown>
  }
  const used = new Set(steps.flatMap(({ after }) => after))
  const last = results.filter(({ id, status }) => status === "success" && !used.has(id))
  return Object.fromEntries(last.map(({ id, value }) => [id, value ?? null]))
}
