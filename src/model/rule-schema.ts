import { z } from "zod"
import { readGlob } from "./glob.ts"
import { issueSentence } from "./issue-sentence.ts"
import { nearest } from "./nearest.ts"
import { effects } from "./permission.ts"
import { pathText, valueAt } from "./problems.ts"
import { ruleVerdicts, type Rule, type RuleFlaw } from "./rule.ts"
import { pointerMistake, readToolPattern, readTouchPattern } from "./rule-patterns.ts"

const name = z.string().min(1)
const tool = name
  .superRefine((written, context) => {
    const read = readToolPattern(written)
    if (written !== "" && "mistake" in read) context.addIssue(`'${written}' ${read.mistake}`)
  })
  .optional()

const example = z.strictObject({
  agent: name.optional().describe("Who calls; anyone when left out."),
  tool: name.optional().describe("What is called; needed where the rule names several tools."),
  input: z.unknown().optional().describe("What the call gives to its tool."),
})

const fields = z.strictObject({
  allow: tool.describe("The tool that runs unasked: its name, group:<id>, or a pattern such as http_*."),
  ask: tool.describe("The tool a person is asked about, written like allow."),
  deny: tool.describe("The tool that does not run, written like allow."),
  role: someOf(name).describe("Roles it holds for; those made by agents never count."),
  department: someOf(name).describe("Departments it holds for."),
  agent: someOf(name).describe("Agents it holds for; unless it allows, everyone they spawn too."),
  effect: someOf(z.enum(effects), `one or more of ${effects.join(", ")}`).describe(
    "What the tool does to the world, for example write.",
  ),
  touching: someOf(name).describe("What the call touches: file:, read:, write:, command: or host: with a pattern."),
  args: z
    .record(z.string(), z.string())
    .superRefine(refuseBadArguments)
    .optional()
    .describe("JSON pointer into the input to a pattern for what stands there."),
  except: someOf(name).describe("What may be touched without the rule holding, written like touching."),
  because: z.string().regex(/\S/, "say why; people and models are told").describe("Why; people and models are told."),
  approvers: z
    .strictObject({
      role: name.optional().describe("The role of the people who agree; any when left out."),
      count: z.int().min(1).optional().describe("How many different people; 1 when left out."),
    })
    .optional()
    .describe("Who must agree, for a rule that asks."),
  deadline: z.number().positive().optional().describe("Minutes the question waits, for a rule that asks."),
  examples: z
    .strictObject({
      match: z.array(example).optional().describe("Calls the rule must be about."),
      miss: z.array(example).optional().describe("Calls it must not be about."),
    })
    .optional()
    .describe("Calls that are tried when the rule is read."),
  shadow: z.boolean().optional().describe("True only writes down what the rule would have done."),
  release: z
    .enum(["always", "on-error"])
    .optional()
    .describe("Asks about the result instead of the run, for a rule that asks."),
})

/** A rule as people write it, in the configuration or for the store. */
export const ruleSchema = fields
  .superRefine(refuseContradictions, { when: () => true })
  .meta({ oneOf: ruleVerdicts.map((verdict) => ({ required: [verdict] })) })

export type WrittenRule = z.infer<typeof ruleSchema>

/** Reads one rule, or says everything that is wrong with it. `source` is where it stands. */
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

/** One, or a list with at least one. */
function someOf<Item extends z.ZodType>(item: Item, what = "a text or a list of texts") {
  return z.union([item, z.array(item).min(1)], { error: `write ${what}` }).optional()
}

type Context = z.core.$RefinementCtx

function refuseBadArguments(given: Record<string, string>, context: Context): void {
  if (Object.keys(given).length === 0) context.addIssue("it names no value; write a JSON pointer and a pattern")
  for (const [pointer, pattern] of Object.entries(given)) {
    const read = readGlob(pattern, "text")
    const wrong = pointerMistake(pointer)
    if (wrong !== undefined) say(context, [pointer], `'${pointer}' ${wrong}`)
    if ("mistake" in read) say(context, [pointer], `the pattern '${pattern}' ${read.mistake}`)
  }
}

/** Looks at what several fields say together. It is also given rules whose fields are wrong by themselves. */
function refuseContradictions(given: unknown, context: Context): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return
  const rule = given as Partial<Record<keyof WrittenRule, unknown>>
  const said = ruleVerdicts.filter((verdict) => rule[verdict] !== undefined)
  if (said.length !== 1) {
    return say(context, [], `it has ${said.join(" and ") || "no verdict"}; write exactly one of allow, ask and deny`)
  }
  if (rule.ask === undefined) {
    for (const field of ["approvers", "deadline", "release"] as const) {
      if (rule[field] !== undefined) say(context, [field], "only a rule that asks can have it")
    }
  }
  if (rule.release !== undefined) {
    for (const field of ["approvers", "deadline"] as const) {
      if (rule[field] !== undefined)
        say(
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
      if ("mistake" in read) say(context, [field], `'${written}' ${read.mistake}`)
    }
  }
}

function say(context: Context, path: string[], message: string): void {
  context.addIssue({ code: "custom", path, message })
}

function sentencesOf(issue: z.core.$ZodIssue, given: unknown): string[] {
  const { path } = issue
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownField(path, key))
  return [`${path.length === 0 ? "The rule" : `'${pathText(path)}'`} ${issueSentence(issue, valueAt(given, path))}`]
}

function unknownField(path: readonly PropertyKey[], key: string): string {
  const known = fieldsAt(path)
  const guess = nearest(key, known)
  const help =
    guess === undefined ? `Known here: ${known.join(", ")}.` : `Did you mean '${pathText([...path, guess])}'?`
  return `'${pathText([...path, key])}' is not a field of a rule. ${help}`
}

function fieldsAt(path: readonly PropertyKey[]): string[] {
  let here: unknown = fields
  for (const step of path) {
    if (typeof step === "number") continue
    if (here instanceof z.ZodObject) here = here.shape[step as string]
    while (here instanceof z.ZodOptional) here = here.unwrap()
    if (here instanceof z.ZodArray) here = here.element
  }
  return here instanceof z.ZodObject ? Object.keys(here.shape) : []
}
