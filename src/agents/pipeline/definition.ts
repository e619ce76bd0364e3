import { z } from "zod"

/** The most steps a pipeline may have. */
export const maxSteps = 500

/** The name by which steps refer to what the pipeline was given. */
export const inputName = "input"

const name = z
  .string()
  .regex(/^[^\s#]{1,64}$/u, "an id has 1 to 64 characters, without spaces and #")
  .refine((id) => id !== inputName, `${inputName} is what the pipeline was given; choose another id`)

export const stepStatuses = [
  "success",
  "failed",
  "refused",
  "withheld",
  "skipped",
  "waiting",
  "pending",
  "aborted",
] as const

const tests = { equals: z.unknown(), contains: z.unknown(), above: z.number(), below: z.number(), exists: z.boolean() }
export type TestName = keyof typeof tests
export const testNames = Object.keys(tests) as TestName[]

/**
 * The condition of a step: the ending of another step, a value of it, or a combination of these. One of:
 * `{ step, is }`, `{ $from, equals | contains | above | below | exists }`, `{ not }`, `{ all }`, `{ any }`.
 */
export interface Condition {
  step?: string
  is?: StepStatus
  $from?: string
  equals?: unknown
  contains?: unknown
  above?: number
  below?: number
  exists?: boolean
  not?: Condition
  all?: Condition[]
  any?: Condition[]
}

const formsOfCondition =
  "it must be one of { step, is }, { $from } with one of equals, contains, above, below, exists, { not }, { all } and { any }"

const condition: z.ZodType<Condition, Condition> = z.lazy(() =>
  z.strictObject(conditionKeys).superRefine((given, { addIssue }) => {
    const keys = Object.keys(given).sort().join()
    const isTest = testNames.some((test) => keys === ["$from", test].sort().join())
    if (isTest || ["is,step", "not", "all", "any"].includes(keys)) return
    addIssue({ code: "custom", message: formsOfCondition, path: [] })
  }),
)
const conditionKeys = {
  step: z.string().optional(),
  is: z.enum(["success", "failed", "refused", "withheld", "skipped"]).optional(),
  $from: z.string().optional(),
  equals: tests.equals.optional(),
  contains: tests.contains.optional(),
  above: tests.above.optional(),
  below: tests.below.optional(),
  exists: tests.exists.optional(),
  not: condition.optional(),
  all: z.array(condition).min(1).optional(),
  any: z.array(condition).min(1).optional(),
}

const inputs = z.record(z.string(), z.unknown())

const retry = z.strictObject({ times: z.int().min(1).max(10), pauseMs: z.int().min(0).max(600_000).optional() })

const fallback = z
  .strictObject({ tool: z.string().min(1).optional(), input: inputs.optional(), value: z.unknown().optional() })
  .superRefine((given, { addIssue }) => {
    const isTool = given.tool !== undefined
    if (isTool !== "value" in given && (isTool || given.input === undefined)) return
    addIssue({ code: "custom", message: "it must have a tool with its input, or a value", path: [] })
  })

const step = z.strictObject({
  id: name,
  tool: z.string().min(1),
  /** Why it is made, for those who approve it. */
  description: z.string().optional(),
  input: inputs.optional(),
  needs: z.array(z.string()).optional(),
  when: condition.optional(),
  retry: retry.optional(),
  fallback: fallback.optional(),
})

export const definitionSchema = z.strictObject({
  name: z.string().optional(),
  description: z.string().optional(),
  input: z
    .record(z.string(), z.strictObject({ description: z.string().optional(), default: z.unknown().optional() }))
    .optional(),
  steps: z.array(step).min(1),
  outputs: inputs.optional(),
})

/** The known keys, by the key they stand under. */
export const knownKeys: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(definitionSchema.shape),
  steps: Object.keys(step.shape),
  retry: Object.keys(retry.shape),
  fallback: ["tool", "input", "value"],
  when: Object.keys(conditionKeys),
  not: Object.keys(conditionKeys),
  all: Object.keys(conditionKeys),
  any: Object.keys(conditionKeys),
}

/**
 * Tool calls in an order that follows from what they take of each other.
 *
 * ```yaml
 * input: { folder: { default: . } }
 * steps:
 *   - { id: find, tool: find_files, input: { pattern: "*.md", path: { $from: input#/folder } } }
 *   - { id: first, tool: read_file, input: { path: { $from: find#/files/0 } }, when: { $from: find#/total, above: 0 } }
 * outputs: { text: { $from: first#/content } }
 * ```
 */
export type PipelineDefinition = z.input<typeof definitionSchema>
export type PipelineStep = PipelineDefinition["steps"][number]
export type StepStatus = (typeof stepStatuses)[number]
