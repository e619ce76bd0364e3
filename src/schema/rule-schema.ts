import { z } from "zod"
import { readGlob } from "../lib/glob.ts"
import { issueSentence } from "./issue-sentence.ts"
import { nearestName } from "../lib/nearest-name.ts"
import { effects } from "../core/permission.ts"
import { pathText, valueAtPath } from "./problems.ts"
import { ruleVerdicts, type ArgumentCondition, type Rule, type RuleFlaw } from "../core/rule.ts"
import { pointerMistake, readToolPattern, readTouchPattern } from "./rule-patterns.ts"

const name = z.string().min(1)
const tool = name
  .superRefine((written, context) => {
    const read = readToolPattern(written)
    if (written !== "" && "mistake" in read) context.addIssue(`'${written}' ${read.mistake}`)
  })
  .optional()

const value = z.union([z.string().min(1), z.number(), z.boolean(), z.null()])
const condition = z.strictObject({
  above: z.number().optional().describe("The value is a number above this one."),
  below: z.number().optional().describe("The value is a number below this one."),
  oneOf: z.array(value).min(1).optional().describe("The value is one of these; a text is a pattern."),
  not: z
    .union([value, z.array(value).min(1)])
    .optional()
    .describe("The value is not this, or none of these; a text is a pattern."),
})

const example = z.strictObject({
  agent: name.optional().describe("The agent that calls; any agent when left out."),
  tool: name.optional().describe("The tool that is called; needed when the rule names several tools."),
  input: z.unknown().optional().describe("The input of the call."),
})

const fields = z.strictObject({
  allow: tool.describe("The tool that runs unasked: its name, group:<id>, or a pattern such as http_*."),
  ask: tool.describe("The tool a person is asked about, written like allow."),
  deny: tool.describe("The tool that does not run, written like allow."),
  role: someOf(name).describe("Roles the rule applies to; roles created by agents never count."),
  department: someOf(name).describe("Departments the rule applies to."),
  agent: someOf(name).describe("Agents the rule applies to; unless it allows, also all agents they spawn."),
  effect: someOf(z.enum(effects), `one or more of ${effects.join(", ")}`).describe(
    "The effect of the tool, for example write.",
  ),
  touching: someOf(name).describe(
    "What the call touches: file:, read:, write:, command:, host: or database: with a pattern.",
  ),
  args: z
    .record(z.string(), z.union([z.string(), condition], { error: ({ input }) => conditionMistake(input) }))
    .superRefine(refuseBadArguments)
    .optional()
    .describe("JSON pointer into the input, and a pattern for the value there, or above, below, oneOf or not."),
  except: someOf(name).describe("What a call may touch without the rule applying, written like touching."),
  because: z.string().regex(/\S/, "say why; people and models read it").describe("Why; people and models read it."),
  approvers: z
    .strictObject({
      role: name.optional().describe("The role of the people who must approve; any when left out."),
      count: z.int().min(1).optional().describe("How many different people; 1 when left out."),
    })
    .optional()
    .describe("Who must approve, for a rule that asks."),
  deadline: z.number().positive().optional().describe("Minutes to wait for an answer, for a rule that asks."),
  examples: z
    .strictObject({
      match: z.array(example).optional().describe("Calls the rule must apply to."),
      miss: z.array(example).optional().describe("Calls it must not apply to."),
    })
    .optional()
    .describe("Calls that are checked when the rule is loaded."),
  shadow: z
    .boolean()
    .optional()
    .describe("True: the rule decides nothing; the audit log notes what it would have decided."),
  expiresAt: z.iso
    .datetime({ offset: true, error: "write a time with its zone, such as 2026-12-31T18:00:00Z" })
    .optional()
    .describe("From this time on the rule decides nothing, for example 2026-12-31T18:00:00Z."),
  release: z
    .enum(["always", "on-error"])
    .optional()
    .describe("Holds the result for a person instead of the call, for a rule that asks."),
})

/** A rule as people write it, in the configuration or for the store. */
export const ruleSchema = fields
  .superRefine(refuseContradictions, { when: () => true })
  .meta({ oneOf: ruleVerdicts.map((verdict) => ({ required: [verdict] })) })

export type WrittenRule = z.infer<typeof ruleSchema>

/** Reads one rule, or lists everything that is wrong with it. `source` is where it is written. */
export function readRule(given: unknown, id: string, source: string): { rule: Rule } | { flaws: RuleFlaw[] } {
  const parsed = ruleSchema.safeParse(given)
  if (parsed.success) return { rule: ruleOf(parsed.data, id, source) }
  const sentences = parsed.error.issues.flatMap((issue) => sentencesOf(issue, given))
  return { flaws: sentences.map((sentence) => ({ kind: "malformed", source, sentence })) }
}

function ruleOf(written: WrittenRule, id: string, source: string): Rule {
  const { allow, ask, deny, role, department, agent, effect, touching, except, approvers, ...rest } = written
  return {
    ...rest,
    id,
    source,
    verdict: deny !== undefined ? "deny" : ask !== undefined ? "ask" : "allow",
    tool: (deny ?? ask ?? allow)!,
    role: listOf(role),
    department: listOf(department),
    agent: listOf(agent),
    effect: listOf(effect),
    touching: listOf(touching),
    except: listOf(except),
    approvers: approvers && { role: approvers.role, count: approvers.count ?? 1 },
  }
}

function listOf<T>(given: T | T[] | undefined): T[] | undefined {
  return given === undefined ? undefined : ([given].flat() as T[])
}

/** One item, or a list with at least one. */
function someOf<Item extends z.ZodType>(item: Item, what = "a text or a list of texts") {
  return z.union([item, z.array(item).min(1)], { error: `write ${what}` }).optional()
}

type Context = z.core.$RefinementCtx

function refuseBadArguments(given: Record<string, string | ArgumentCondition>, context: Context): void {
  if (Object.keys(given).length === 0) context.addIssue("it names no value; write a JSON pointer and a pattern")
  for (const [pointer, written] of Object.entries(given)) {
    const wrong = pointerMistake(pointer)
    if (wrong !== undefined) addIssue(context, [pointer], `'${pointer}' ${wrong}`)
    const values = typeof written === "string" ? [written] : [written.oneOf, written.not].flat()
    for (const pattern of values.filter((one) => typeof one === "string")) {
      const read = readGlob(pattern, "text")
      if ("mistake" in read) addIssue(context, [pointer], `the pattern '${pattern}' ${read.mistake}`)
    }
    const { above = -Infinity, below = Infinity } = typeof written === "string" ? {} : written
    if (above >= below) addIssue(context, [pointer], `no number is above ${above} and below ${below}`)
    if (typeof written !== "string" && Object.values(written).every((part) => part === undefined))
      addIssue(context, [pointer], conditionMistake(written))
  }
}

/** Describes the alternatives to a value that is neither a pattern nor a condition. */
function conditionMistake(given: unknown): string {
  const usual = "write a pattern as text, or one or more of above, below, oneOf and not, such as { above: 100 }"
  if (typeof given === "number") return `write a pattern as text ('${given}'), or { oneOf: [${given}] }`
  if (typeof given !== "object" || given === null || Array.isArray(given)) return usual
  for (const [key, part] of Object.entries(given)) {
    if ((key === "above" || key === "below") && typeof part !== "number")
      return `'${key}' takes a number, without quotes`
    if (key === "oneOf" && !Array.isArray(part)) return "'oneOf' takes a list, such as [EUR, USD]"
  }
  return usual
}

/** Checks fields against each other. Also runs for rules whose single fields are wrong. */
function refuseContradictions(given: unknown, context: Context): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return
  const rule = given as Partial<Record<keyof WrittenRule, unknown>>
  const verdicts = ruleVerdicts.filter((verdict) => rule[verdict] !== undefined)
  if (verdicts.length !== 1) {
    return addIssue(
      context,
      [],
      `it has ${verdicts.join(" and ") || "no verdict"}; write exactly one of allow, ask and deny`,
    )
  }
  if (rule.ask === undefined) {
    for (const field of ["approvers", "deadline", "release"] as const) {
      if (rule[field] !== undefined) addIssue(context, [field], "only a rule that asks can have it")
    }
  }
  if (rule.release !== undefined) {
    for (const field of ["approvers", "deadline"] as const) {
      if (rule[field] !== undefined)
        addIssue(
          context,
          [field],
          "a result is released by one person, in the usual time; leave it out or write a rule of its own",
        )
    }
  }
  for (const field of ["touching", "except"] as const) {
    for (const written of [rule[field]].flat()) {
      if (typeof written !== "string" || written === "") continue
      const read = readTouchPattern(written, (field === "touching") === (rule.allow !== undefined))
      if ("mistake" in read) addIssue(context, [field], `'${written}' ${read.mistake}`)
    }
  }
}

function addIssue(context: Context, path: string[], message: string): void {
  context.addIssue({ code: "custom", path, message })
}

function sentencesOf(issue: z.core.$ZodIssue, given: unknown): string[] {
  const { path } = issue
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownField(path, key))
  return [`${path.length === 0 ? "The rule" : `'${pathText(path)}'`} ${issueSentence(issue, valueAtPath(given, path))}`]
}

function unknownField(path: readonly PropertyKey[], key: string): string {
  const known = fieldsAt(path)
  const guess = nearestName(key, known)
  const help =
    guess === undefined ? `Known here: ${known.join(", ")}.` : `Did you mean '${pathText([...path, guess])}'?`
  return `'${pathText([...path, key])}' is not a field of a rule. ${help}`
}

function fieldsAt(path: readonly PropertyKey[]): string[] {
  let node: unknown = fields
  for (const step of path) {
    if (typeof step === "number") continue
    if (node instanceof z.ZodObject) node = node.shape[step as string]
    else if (node instanceof z.ZodRecord) node = node.valueType
    while (node instanceof z.ZodOptional) node = node.unwrap()
    if (node instanceof z.ZodUnion) node = node.options.find((option) => option instanceof z.ZodObject) ?? node
    if (node instanceof z.ZodArray) node = node.element
  }
  return node instanceof z.ZodObject ? Object.keys(node.shape) : []
}
