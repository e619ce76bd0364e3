import type { Quartermaster } from "../../../app/quartermaster.ts"
import { effects } from "../../../core/permission.ts"
import { isExpired, type Rule, type RuleFlaw } from "../../../core/rule.ts"
import { ruleHash } from "../../../policy/rules/rule-reason.ts"
import { touchPrefixes } from "../../../schema/rule-patterns.ts"
import type { Api } from "./endpoint.ts"
import { HttpProblem, notFound } from "./problem.ts"
import { ruleYaml, writtenOf } from "./rule-yaml.ts"
import type { RuleChoicesJson, RulePageJson, ShownRuleJson, WholeRuleJson } from "./rules-page-schemas.ts"

const weekMs = 7 * 24 * 60 * 60_000

interface RuleQuery {
  search?: string | undefined
  verdict?: string | undefined
  flawed?: "true" | undefined
  cursor?: string | undefined
  limit?: number | undefined
}

/** A page of the rules in force, in their order. */
export async function rulePageOf({ app, now }: Api, query: RuleQuery): Promise<RulePageJson> {
  const { rules } = app
  const counted = now() - weekMs
  const show = await ruleShower(app, now(), counted)
  const flaws = rules.flaws()
  const wanted = query.search?.toLowerCase()
  const isWanted = (rule: Rule) =>
    (query.verdict === undefined || rule.verdict === query.verdict) &&
    (query.flawed === undefined || show.flawsOf(rule).length > 0) &&
    (wanted === undefined || JSON.stringify(rule).toLowerCase().includes(wanted))
  const all = rules.list().filter(isWanted)
  const from = query.cursor === undefined ? 0 : placeAfter(all, query.cursor)
  const items = all.slice(from, query.limit === undefined ? undefined : from + query.limit)
  const last = items.at(-1)
  return {
    items: items.map(show.rule),
    flaws: flaws.map((flaw) => ({ ...flaw })),
    total: all.length,
    flawed: rules.list().filter((rule) => show.flawsOf(rule).length > 0).length,
    counted,
    version: rules.version(),
    ...(last !== undefined && from + items.length < all.length
      ? { cursor: Buffer.from(JSON.stringify({ id: last.id, place: from + items.length })).toString("base64url") }
      : {}),
  }
}

/** The place after the rule that ended the page before. Where that rule is gone, the page begins where it stood. */
function placeAfter(rules: readonly Rule[], cursor: string): number {
  try {
    const { id, place } = JSON.parse(Buffer.from(cursor, "base64url").toString()) as { id: string; place: number }
    if (!Number.isInteger(place) || place < 0) throw new Error("not a place")
    const found = rules.findIndex((rule) => rule.id === id)
    return found === -1 ? Math.max(0, place - 1) : found + 1
  } catch {
    throw new HttpProblem(400, "The cursor is not one of this list. Leave it out to begin with the first page.", {
      code: "bad_cursor",
    })
  }
}

/** One rule with everything about it. */
export async function wholeRuleOf({ app, now }: Api, id: string): Promise<WholeRuleJson> {
  const rule = app.rules.list().find((each) => each.id === id)
  if (rule === undefined) throw notFound("rule", id)
  const show = await ruleShower(app, now(), now() - weekMs)
  const yaml = ruleYaml(app.rules.stored(id)?.written ?? writtenOf(rule))
  return { ...show.rule(rule), yaml, tools: [...app.rules.toolsOf(rule)] }
}

/** Shows rules with who wrote them, how often they decided, and what is wrong with them. */
async function ruleShower(
  { rules, audit, settle }: Pick<Quartermaster, "rules" | "audit" | "settle">,
  now: number,
  since: number,
) {
  await settle()
  const decided = await audit.rules(since)
  const flaws = new Map<string, RuleFlaw[]>()
  for (const flaw of rules.flaws()) if (flaws.get(flaw.source)?.push(flaw) === undefined) flaws.set(flaw.source, [flaw])
  const flawsOf = ({ source }: Rule) => (flaws.get(source) ?? []).map(({ kind, sentence }) => ({ kind, sentence }))
  return {
    flawsOf,
    rule(rule: Rule): ShownRuleJson {
      const stored = rules.stored(rule.id)
      return {
        ...(rule as object as Record<string, unknown>),
        ...({ id: rule.id, verdict: rule.verdict, tool: rule.tool, because: rule.because } as const),
        source: rule.source,
        stored: stored !== undefined,
        addedBy: stored?.by,
        addedAt: stored?.at,
        revision: stored?.revision,
        expired: isExpired(rule, now),
        decided: decided.get(ruleHash(rule)) ?? 0,
        flaws: flawsOf(rule),
      }
    },
  }
}

/** Returns the names for the fields of a rule. */
export async function ruleChoicesOf({ app }: Api): Promise<RuleChoicesJson> {
  const tools = new Map(app.registry.list().map((tool) => [tool.name, tool]))
  const people = app.org.listPeople().filter(({ status }) => status === "active")
  return {
    tools: [...tools.values()].map(({ name, title, group, effect, input }) => {
      const parameters = Object.keys(Object(input.json["properties"]) as object)
      return { value: name, label: title, group, effect, parameters }
    }),
    groups: app.listGroups().map(({ id, description }) => ({ value: `group:${id}`, label: description })),
    agents: app.org.listAgents().map(({ id, roleId }) => ({ value: id, label: app.org.view(id)?.role.name ?? roleId })),
    roles: app.org
      .listRoles()
      .filter(({ status }) => status === "active")
      .map(({ name, madeBy }) => ({ value: name, byAgent: madeBy === "agent" })),
    departments: app.org.listDepartments().map(({ id, name }) => ({ value: id, label: name })),
    people: people.map(({ id, name }) => ({ value: id, label: name })),
    approverRoles: [...new Set(people.flatMap(({ roles }) => roles))].sort(),
    touchKinds: touchPrefixes.map((kind) => `${kind}:`),
    effects: [...effects],
    hosts: [...(await app.reachedHosts())],
  }
}
