import { z } from "zod"
import { errorMessage } from "../../../lib/error-message.ts"
import { TooMuchWork } from "../../../lib/too-much-work.ts"
import { firstText } from "../../../lib/first-text.ts"
import { endpoint, type Endpoint } from "./endpoint.ts"
import { HttpProblem, notFound } from "./problem.ts"
import { suggestion } from "./schemas.ts"

const tag = "Rules"
const byId = z.object({ id: z.string().min(1) })
const rule = z.looseObject({ because: z.string().optional() })
const thirtyDays = 30 * 24 * 60 * 60_000

/** Apps in which a simulation runs: each takes one at a time, because it reads the whole audit log. */
const simulating = new WeakSet<object>()

export const ruleEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "get",
    path: "/v1/rules",
    summary: "The rules in force, from the configuration and the store, and what is wrong with them.",
    tag,
    scope: "read",
    answers: {
      200: z.object({
        items: z.array(z.looseObject({ id: z.string() })),
        flaws: z.array(z.looseObject({})),
        version: z.string(),
      }),
    },
    handle: ({ api: { app } }) => ({ items: app.rules.list(), flaws: app.rules.flaws(), version: app.rules.version() }),
  }),
  endpoint({
    method: "post",
    path: "/v1/rules",
    summary: "Adds a rule to the store.",
    tag,
    scope: "manage",
    body: z.object({ rule }),
    answers: { 201: z.looseObject({ id: z.string() }) },
    async handle({ api, caller, body }) {
      try {
        return await api.app.rules.add(body.rule, caller.id)
      } catch (error) {
        throw new HttpProblem(422, errorMessage(error), { code: "bad_rule" })
      }
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
      if ((await api.app.rules.remove(id, caller.id)) === undefined) throw notFound("stored rule", id)
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/rules/simulate",
    summary: "Which recorded calls these rules would have decided differently.",
    tag,
    scope: "read",
    body: z.object({ rules: z.array(rule).max(1000), since: z.number().min(0).optional() }),
    answers: { 200: z.looseObject({ looked: z.number() }) },
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
        const since = body.since ?? api.now() - thirtyDays
        return await rules.simulate(body.rules, { since }, { signal, mostMs: 20_000, mostSteps: 20_000_000 })
      } catch (error) {
        if (error instanceof TooMuchWork) throw new HttpProblem(422, error.message, { code: "too_much_work" })
        throw error
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
    path: "/v1/grants",
    summary: "Remembered answers.",
    tag,
    scope: "read",
    query: z.object({ agentId: z.string().min(1).optional() }),
    answers: { 200: z.object({ items: z.array(z.looseObject({ id: z.string() })) }) },
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
