import { isObject } from "../../lib/is-object.ts"
import type { z } from "zod"
import type { PipelineDefinition } from "./definition.ts"

type Keys = Record<string, unknown>

/**
 * A definition without the keys that are written wrongly, so that what is wrong with the rest can be told as well. A step
 * without an id gets one that nothing can refer to, and one without a tool an empty name. Undefined when there is no step.
 */
export function withoutWrongParts(value: unknown, issues: readonly z.core.$ZodIssue[]): PipelineDefinition | undefined {
  const given = isObject(value) ? value["steps"] : undefined
  if (!isObject(value) || !Array.isArray(given) || given.length === 0) return undefined
  const steps = given.map((step: unknown): Keys => (isObject(step) ? { ...step } : {}))
  const rest = { ...value }
  for (const issue of issues) {
    const [first, position, key] = issue.path
    const step = first === "steps" ? steps[Number(position)] : undefined
    const wrong = step === undefined ? first : key
    const unknown = issue.code === "unrecognized_keys" ? issue.keys : []
    for (const name of wrong === undefined ? unknown : [String(wrong)]) delete (step ?? rest)[name]
  }
  const whole = steps.map((step, position) => ({ id: `#${position}`, tool: "", ...step }))
  return { ...rest, steps: whole } as PipelineDefinition
}
