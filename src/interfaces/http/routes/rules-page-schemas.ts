import { z } from "zod"

/*
 * GET    /v1/rules?search&verdict&flawed&cursor&limit   rulePage; every rule where limit is left out
 * GET    /v1/rules/{id}                                 wholeRule
 * GET    /v1/rules/choices                              ruleChoices, for the fields of an editor
 * POST   /v1/rules/try                                  tryBody → tried; quick, for every key that is typed
 * POST   /v1/rules/simulate                             simulateBody → simulation, on what was recorded; one at a time (429)
 * POST   /v1/rules                                      { rule } → shownRule (201); 422 `bad_rule` with what is wrong
 * PUT    /v1/rules/{id}                                 { rule, revision } → shownRule; 409 `changed_meanwhile` with `current`
 * DELETE /v1/rules/{id}                                 only rules of the store
 * GET    /v1/rules/suggestions                          { items: suggestion[] }
 * GET    /v1/grants?agentId                             { items: rememberedAnswer[] }
 * DELETE /v1/grants/{id}                                revokes one
 * POST   /v1/why                                        { agentId, tool, input } → explanation, the one of `qm why`
 *
 * On /v1/events: `document` with the kind `rule` or `grant` when one is added or removed, `audit` when a call has ended.
 */

const text = z.string().min(1)
const time = z.number().describe("Milliseconds since 1970, by the server's clock.")
const verdict = z.enum(["allow", "ask", "deny"])

const flaw = z.object({
  kind: z
    .enum(["malformed", "dead", "shadowed", "example", "doubtful"])
    .describe(
      "`dead`: it can match nothing. `shadowed`: another rule covers it. `example`: one of its examples comes out otherwise. `doubtful`: it may not mean what it says.",
    ),
  sentence: z.string(),
})

/** The contents of a rule in the list, in the fields of the core: `tool`, `agent`, `role`, `touching`, `args` etc. */
export const shownRule = z
  .looseObject({
    id: z.string(),
    verdict,
    tool: z.string(),
    agent: z.array(z.string()).optional(),
    role: z.array(z.string()).optional(),
    department: z.array(z.string()).optional(),
    effect: z.array(z.string()).optional(),
    touching: z.array(z.string()).optional(),
    except: z.array(z.string()).optional(),
    args: z.record(z.string(), z.unknown()).optional(),
    approvers: z.object({ role: z.string().optional(), count: z.number() }).optional(),
    deadline: z.number().optional(),
    release: z.enum(["always", "on-error"]).optional(),
    shadow: z.boolean().optional().describe("It decides nothing; what it would have decided is recorded."),
    expiresAt: z.string().optional(),
    because: z.string(),
    source: z.string().describe("`quartermaster.yml rules[3]`, `built in`, or `rule <id>` for one of the store."),
    stored: z.boolean().describe("Only rules of the store are changed and removed here."),
    addedBy: z.string().optional().describe("For a rule of the store: the id of who wrote it last."),
    addedAt: time.optional(),
    revision: z.string().optional().describe("For a rule of the store: opaque, for PUT."),
    expired: z.boolean(),
    decided: z
      .number()
      .describe("How many calls it gave a reason for in the last 7 days; for one in shadow, would have given."),
    flaws: z.array(flaw),
  })
  .meta({ id: "ShownRule" })

export const rulePage = z
  .object({
    items: z.array(shownRule),
    flaws: z.array(z.looseObject({ kind: z.string(), source: z.string(), sentence: z.string() })),
    total: z.number().describe("How many rules there are on all pages."),
    flawed: z.number().describe("How many rules have a flaw."),
    counted: time.describe("Since when `decided` counts."),
    version: z.string(),
    cursor: z.string().optional(),
  })
  .meta({ id: "RulePage" })

export const ruleQuery = z.object({
  search: z.string().max(200).optional().describe("A text in the tool, the reason, the source or a condition."),
  verdict: verdict.optional(),
  flawed: z.enum(["true"]).optional(),
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(500).optional(),
})

export const wholeRule = shownRule
  .extend({
    yaml: z.string().describe("As it stands in quartermaster.yml, ready to paste below `rules:`."),
    tools: z.array(z.string()).describe("The tools that it is about now."),
  })
  .meta({ id: "WholeRule" })

/** A rule as it is written: `{ allow: "http_*", agent: "dev", because: "…" }`. */
export const writtenRule = z.looseObject({ because: z.string().optional() })

export const ruleChange = z.object({ rule: writtenRule, revision: text }).meta({ id: "RuleChange" })

const choice = z.object({ value: z.string(), label: z.string().optional() })

export const ruleChoices = z
  .object({
    tools: z.array(
      choice.extend({
        group: z.string(),
        effect: z.string().optional(),
        parameters: z.array(z.string()).describe("The names of its parameters, for conditions on the input."),
      }),
    ),
    groups: z.array(choice).describe("`group:<id>`, as a rule writes it."),
    agents: z.array(choice),
    roles: z.array(
      choice.extend({ byAgent: z.boolean().describe("Rules do not count for a role that an agent made.") }),
    ),
    departments: z.array(choice),
    people: z.array(choice),
    approverRoles: z.array(z.string()).describe("The roles of people."),
    touchKinds: z.array(z.string()).describe("`write:`, `host:` and so on, before a pattern."),
    effects: z.array(z.string()),
    hosts: z.array(z.string()).describe("Hosts that recorded calls named, those seen last first."),
  })
  .meta({ id: "RuleChoices" })

const example = z.object({ agentId: text, tool: text, input: z.unknown().optional() })

export const tryBody = z
  .object({
    rule: writtenRule,
    replaces: text.optional().describe("The id of the stored rule that it is written over."),
    examples: z.array(example).max(50).optional(),
  })
  .meta({ id: "RuleTryBody" })

const outcome = z.object({
  verdict,
  reasons: z.array(z.looseObject({ check: z.string(), source: z.string(), code: z.string(), sentence: z.string() })),
})

export const tried = z
  .object({
    valid: z.boolean().describe("False: POST /v1/rules would refuse it. `flaws` say why."),
    flaws: z.array(flaw),
    yaml: z.string(),
    tools: z.array(z.string()).describe("The tools that it is about."),
    examples: z.array(
      z.object({
        agentId: z.string(),
        tool: z.string(),
        before: outcome.describe("As it is decided now."),
        after: outcome.describe("With the draft."),
      }),
    ),
  })
  .meta({ id: "RuleTried" })

export const simulateBody = z
  .object({
    rules: z.array(writtenRule).max(1000).optional().describe("In place of those of the configuration."),
    add: z.array(writtenRule).max(1000).optional().describe("Beside those in force: a draft."),
    without: z.array(text).max(1000).optional().describe("The ids of stored rules that are left out."),
    since: z.number().min(0).optional().describe("30 days ago when left out."),
  })
  .meta({ id: "SimulateBody" })

export const simulation = z
  .object({
    looked: z.number().describe("How many recorded calls were decided again."),
    uncertain: z
      .number()
      .describe("Calls whose input is masked or cut, so that conditions on it may come out otherwise."),
    flaws: z.array(z.looseObject({ kind: z.string(), sentence: z.string() })),
    counts: z
      .array(z.object({ before: verdict, after: verdict, count: z.number() }))
      .describe("How many calls went from one verdict to another."),
    refusedWouldRun: z.number().describe("Calls that a person refused and that would run unasked."),
    changed: z
      .array(
        z.looseObject({
          callId: z.string(),
          at: time,
          agentId: z.string(),
          tool: z.string(),
          before: verdict,
          after: verdict,
          summary: z.string().describe("What the call was about, in one line."),
        }),
      )
      .describe("The newest 500 of them."),
    total: z.number().describe("How many would be decided otherwise."),
  })
  .meta({ id: "Simulation" })

export const rememberedAnswer = z
  .looseObject({
    id: z.string(),
    verdict: z.enum(["allow", "deny"]),
    scope: z.string(),
    agentId: z.string(),
    tool: z.string(),
    by: z.string(),
    words: z.string().describe("What it means, as the person who gave it read it."),
    createdAt: time,
    expiresAt: time.nullable(),
  })
  .meta({ id: "RememberedAnswer" })

export type ShownRuleJson = z.infer<typeof shownRule>
export type RulePageJson = z.infer<typeof rulePage>
export type WholeRuleJson = z.infer<typeof wholeRule>
export type RuleChoicesJson = z.infer<typeof ruleChoices>
export type TryBody = z.infer<typeof tryBody>
export type TriedJson = z.infer<typeof tried>
export type SimulateBody = z.infer<typeof simulateBody>
export type SimulationJson = z.infer<typeof simulation>
export type RememberedAnswerJson = z.infer<typeof rememberedAnswer>
