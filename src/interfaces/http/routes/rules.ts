import { z } from "zod"
import { errorMessage } from "../../../lib/error-message.ts"
import { TooMuchWork } from "../../../lib/too-much-work.ts"
import { firstText } from "../../../lib/first-text.ts"
import { endpoint, type Api, type Endpoint } from "./endpoint.ts"
import { HttpProblem, notFound } from "./problem.ts"
import type { DraftOutcome, Simulation } from "../../../policy/rule-admin.ts"
import { ruleYaml } from "./rule-yaml.ts"
import { ruleChoicesOf, rulePageOf, wholeRuleOf } from "./rules-page.ts"
import {
  rememberedAnswer,
  ruleChange,
  ruleChoices,
  rulePage,
  ruleQuery,
  simulateBody,
  simulation,
  tried,
  tryBody,
  wholeRule,
  writtenRule,
  type SimulationJson,
  type TriedJson,
} from "./rules-page-schemas.ts"
import { suggestion } from "./schemas.ts"

const tag = "Rules"
const byId = z.object({ id: z.string().min(1) })
const thirtyDays = 30 * 24 * 60 * 60_000

/** Apps in which a simulation runs: each takes one at a time, because it reads the whole audit log. */
const simulating = new WeakSet<object>()

/** A draft is tried with every key that is typed. */
const mostStepsOfTry = 5_000_000

/** Limit of calls of a simulation that are shown. */
const mostShown = 500

export const ruleEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "get",
    path: "/v1/rules",
    summary: "The rules in force, who wrote them, how often they decided, and what is wrong with them.",
    tag,
    scope: "read",
    query: ruleQuery,
    answers: { 200: rulePage },
    handle: ({ api, query }) => rulePageOf(api, query),
  }),
  endpoint({
    method: "get",
    path: "/v1/rules/choices",
    summary: "What the fields of a rule may name: tools, groups, agents, roles, hosts and so on.",
    tag,
    scope: "read",
    answers: { 200: ruleChoices },
    handle: ({ api }) => ruleChoicesOf(api),
  }),
  endpoint({
    method: "post",
    path: "/v1/rules",
    summary: "Adds a rule to the store.",
    tag,
    scope: "manage",
    body: z.object({ rule: writtenRule }),
    answers: { 201: wholeRule },
    async handle({ api, caller, body }) {
      const { id } = await orBadRule(api.app.rules.add(body.rule, caller.id))
      return wholeRuleOf(api, id)
    },
  }),
  endpoint({
    method: "put",
    path: "/v1/rules/{id}",
    summary: "Writes a rule of the store anew, unless it changed since it was read.",
    tag,
    scope: "manage",
    params: byId,
    body: ruleChange,
    answers: { 200: wholeRule },
    async handle({ api, caller, params: { id }, body }) {
      const { rules } = api.app
      if (rules.stored(id) === undefined) throw notStored(api.app, id)
      const written = await orBadRule(rules.replace(id, body.rule, caller.id, body.revision))
      if (written === undefined)
        throw new HttpProblem(409, "The rule changed since you read it. Read it again, then change it.", {
          code: "changed_meanwhile",
          ...(rules.stored(id) === undefined ? {} : { current: await wholeRuleOf(api, id) }),
        })
      return wholeRuleOf(api, id)
    },
  }),
  endpoint({
    method: "delete",
    path: "/v1/rules/{id}",
    summary: "Removes a rule from the store.",
    tag,
    scope: "manage",
    params: byId,
    answers: { 204: undefined },
    async handle({ api, caller, params: { id } }) {
      if ((await api.app.rules.remove(id, caller.id)) === undefined) throw notStored(api.app, id)
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/rules/try",
    summary: "What a rule that is not stored would be about, what is wrong with it, and what it changes for examples.",
    tag,
    scope: "read",
    body: tryBody,
    answers: { 200: tried },
    async handle({ api: { app }, body: { rule, replaces, examples = [] } }): Promise<TriedJson> {
      const draft = await orTooMuch(() =>
        app.rules.tryDraft({ rule, replaces }, examples, { mostSteps: mostStepsOfTry }),
      )
      const { flaws, tools, calls } = draft
      return {
        valid: draft.rule !== undefined && flaws.every(({ kind }) => kind === "dead" || kind === "shadowed"),
        flaws: flaws.map(({ kind, sentence }) => ({ kind, sentence })),
        yaml: ruleYaml(rule),
        tools: [...tools],
        examples: calls.map((call) => ({ ...call, before: outcomeOf(call.before), after: outcomeOf(call.after) })),
      }
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/rules/simulate",
    summary: "Which recorded calls these rules would have decided differently.",
    tag,
    scope: "read",
    body: simulateBody,
    answers: { 200: simulation },
    async handle({ api, body, signal }) {
      const { rules } = api.app
      if (simulating.has(rules))
        throw new HttpProblem(
          429,
          "Another simulation runs. Try again when it has ended.",
          { code: "simulation_runs" },
          { "retry-after": "5" },
        )
      simulating.add(rules)
      try {
        const { since = api.now() - thirtyDays, ...drafts } = body
        const limits = { signal, mostMs: 20_000, mostSteps: 20_000_000 }
        return simulationOf(await orTooMuch(() => rules.simulate(drafts, { since }, limits)))
      } finally {
        simulating.delete(rules)
      }
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/rules/suggestions",
    summary: "Rules for calls that people approved at least five times and never refused.",
    tag,
    scope: "read",
    answers: { 200: z.object({ items: z.array(suggestion) }) },
    async handle({ api }) {
      const { suggestions } = await api.app.rules.suggest({ since: api.now() - thirtyDays })
      const shown = (examples: readonly string[]) => [...new Set(examples.map(firstText))]
      return { items: suggestions.map((each) => ({ ...each, examples: shown(each.examples) })) }
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/rules/{id}",
    summary: "One rule, with its YAML and the tools that it is about.",
    tag,
    scope: "read",
    params: byId,
    answers: { 200: wholeRule },
    handle: ({ api, params: { id } }) => wholeRuleOf(api, id),
  }),
  endpoint({
    method: "get",
    path: "/v1/grants",
    summary: "Remembered answers.",
    tag,
    scope: "read",
    query: z.object({ agentId: z.string().min(1).optional() }),
    answers: { 200: z.object({ items: z.array(rememberedAnswer) }) },
    handle: async ({ api, query }) => ({ items: await api.app.approvals.grants(query) }),
  }),
  endpoint({
    method: "delete",
    path: "/v1/grants/{id}",
    summary: "Revokes a remembered answer: one's own, or any with the scope manage.",
    tag,
    scope: "approve",
    params: byId,
    answers: { 204: undefined },
    async handle({ api, caller, params: { id } }) {
      const found = (await api.app.approvals.grants()).find((grant) => grant.id === id)
      if (found === undefined) throw notFound("remembered answer", id)
      if (found.by !== caller.id && !caller.scopes.includes("manage"))
        throw new HttpProblem(403, `${found.by} gave this answer. Only they, or people who may manage, revoke it.`, {
          code: "not_your_grant",
          params: { by: found.by },
        })
      await api.app.approvals.revoke(id, caller.id)
    },
  }),
]

async function orBadRule<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new HttpProblem(422, errorMessage(error), { code: "bad_rule" })
  }
}

async function orTooMuch<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TooMuchWork) throw new HttpProblem(422, error.message, { code: "too_much_work" })
    throw error
  }
}

function notStored({ rules }: Api["app"], id: string): HttpProblem {
  const found = rules.list().find((rule) => rule.id === id)
  if (found === undefined) return notFound("stored rule", id)
  const { source } = found
  return new HttpProblem(422, `This rule is not in the store but in ${source}. Change it there.`, {
    code: "rule_of_configuration",
    params: { source },
  })
}

function outcomeOf({ verdict, reasons }: DraftOutcome): TriedJson["examples"][number]["before"] {
  return { verdict, reasons: reasons.map((reason) => ({ ...reason })) }
}

function simulationOf({ looked, uncertain, flaws, changed }: Simulation): SimulationJson {
  const counts = new Map<string, SimulationJson["counts"][number]>()
  for (const { before, after } of changed) {
    const count = counts.get(`${before} ${after}`) ?? { before, after, count: 0 }
    counts.set(`${before} ${after}`, { ...count, count: count.count + 1 })
  }
  return {
    looked,
    uncertain,
    flaws: flaws.map((flaw) => ({ ...flaw })),
    counts: [...counts.values()],
    refusedWouldRun: changed.filter(({ code, after }) => code === "approval_rejected" && after === "allow").length,
    total: changed.length,
    changed: changed
      .slice(-mostShown)
      .toReversed()
      .map(({ input, code: _code, ...call }) => ({ ...call, summary: firstText(input) })),
  }
}
