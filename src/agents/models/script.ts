import { z } from "zod"
import { schemaProblems } from "../../schema/schema-problems.ts"
import { readYaml, type ReadYaml } from "../../schema/yaml.ts"
import { ModelError } from "./model-error.ts"

const text = z.string()
const calls = z.record(text.min(1), z.record(text, z.unknown()).nullable())

/** A condition of a script on the results of the last calls, or on the user's last words. */
const condition = z.strictObject({
  tool: text.optional(),
  contains: text.optional(),
  error: z.boolean().optional(),
  user: text.optional(),
})

const turn = {
  say: text.optional(),
  think: text.optional(),
  call: z
    .union([calls, z.array(calls)], { error: "it must be a tool's name and its input, or a list of them" })
    .optional(),
  delay: z.int().min(0).max(600_000).optional(),
  pace: z.int().min(0).max(10_000).optional(),
  usage: z
    .strictObject({ input: z.int().min(0), output: z.int().min(0), cached: z.int().min(0).optional() })
    .optional(),
}

export type Condition = z.infer<typeof condition>
export type TurnStep = z.infer<z.ZodObject<typeof turn>>
interface Case {
  when?: Condition
  steps: Step[]
}
export type Step = TurnStep & { expect?: Condition; branch?: Case[] }

const step: z.ZodType<Step> = z.lazy(() =>
  z
    .strictObject({ ...turn, expect: condition.optional(), branch: z.array(branchCase).min(1).optional() })
    .superRefine((given, { addIssue }) => {
      const kinds = [given.say ?? given.think ?? given.call, given.expect, given.branch].filter(
        (part) => part !== undefined,
      )
      if (kinds.length === 1) return
      const message = "a step has either say, think or call, or an expect, or a branch"
      addIssue({ code: "custom", message, path: [] })
    }),
)
const branchCase = z.strictObject({ when: condition.optional(), steps: z.array(step) })

const script = z.strictObject({
  steps: z.array(step),
  answers: z.array(z.strictObject({ to: text.min(1), say: text })).optional(),
})

/** The known keys, by the key they stand under. */
const known: Readonly<Record<string, readonly string[]>> = {
  "": ["steps", "answers"],
  steps: [...Object.keys(turn), "expect", "branch"],
  branch: ["when", "steps"],
  when: Object.keys(condition.shape),
  expect: Object.keys(condition.shape),
  usage: ["input", "output", "cached"],
  answers: ["to", "say"],
}

export interface Script extends z.infer<typeof script> {
  /** `demo.yml:7`, the line of the step at a path. */
  placeOf(path: readonly (string | number)[]): string
}

/** Reads a script. Throws a ModelError with a line and a sentence for each problem. */
export function readScript(file: string, content: string): Script {
  const yaml = readYaml(content)
  if (yaml.problems.length > 0)
    throw badScript(yaml.problems.map(({ line, sentence }) => `${file}:${line}: ${sentence}`))
  // A script without answers is the list of its steps.
  const isList = Array.isArray(yaml.value)
  const value = isList ? { steps: yaml.value } : yaml.value
  const placeOf = (path: Path, what?: "key" | "value") => `${file}:${lineOf(yaml, isList ? path.slice(1) : path, what)}`
  const parsed = script.safeParse(value)
  if (parsed.success) return { ...parsed.data, placeOf }
  const problems = schemaProblems(parsed.error.issues, { noun: "script", value, known })
  throw badScript(problems.map(({ path, what, sentence }) => `${placeOf(path, what)}: ${sentence}`))
}

type Path = readonly (string | number)[]

function lineOf(yaml: ReadYaml, path: Path, what?: "key" | "value"): number {
  return yaml.placeOf(path, what).line
}

function badScript(problems: readonly string[]): ModelError {
  return new ModelError("bad_script", problems.join("\n"))
}
