import { z } from "zod"
import { endpoint, type Endpoint } from "./endpoint.ts"
import { actor, byId, entry, resource, text } from "./resource.ts"

const people = resource("/v1/people", "Organisation")
const fields = { name: text.max(200).optional(), roles: z.array(text).optional() }
const days = z.number().positive().max(3650).nullable().optional()
const lifetime = { days: days.describe("How long the token works (90); null is for ever.") }
const withToken = z.object({ person: entry, token: z.string() })
const ofToken = { path: "/v1/people/{id}/token", tag: "Organisation", scope: "manage", params: byId } as const

export const peopleEndpoints: readonly Endpoint[] = [
  people.list("The people who answer approvals.", ({ app }) =>
    app.org.listPeople().map(({ tokenHash: _hash, ...person }) => person),
  ),
  people.create(
    "Adds a person. Their token is shown only in this answer.",
    z.object({ id: text.max(200), ...fields, ...lifetime }),
    ({ api, caller, body: { days: given, ...person } }) =>
      api.app.org.createPerson({ ...person, lifetimeMs: msOf(given) }, actor(caller)),
    withToken,
  ),
  people.change("Changes a person.", z.object(fields), ({ api, caller, params, body }) =>
    api.app.org.updatePerson(params.id, body, actor(caller)),
  ),
  people.remove("Removes a person. Their token and sessions stop working.", ({ api, caller, params }) =>
    api.app.org.deletePerson(params.id, actor(caller)),
  ),
  endpoint({
    ...ofToken,
    method: "post",
    summary: "Gives a person another token, which is shown only in this answer. The one before stops working.",
    body: z.object(lifetime),
    answers: { 201: withToken },
    handle: ({ api, caller, params, body }) =>
      api.app.org.renewPersonToken(params.id, { lifetimeMs: msOf(body.days) }, actor(caller)),
  }),
  endpoint({
    ...ofToken,
    method: "delete",
    summary: "Revokes a person's token. They stay, and their sessions too.",
    answers: { 200: entry },
    handle: ({ api, caller, params }) => api.app.org.revokePersonToken(params.id, actor(caller)),
  }),
]

function msOf(given: number | null | undefined): number | null | undefined {
  return typeof given === "number" ? Math.round(given * 24 * 60 * 60_000) : given
}
