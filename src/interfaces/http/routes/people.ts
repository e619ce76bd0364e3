import { z } from "zod"
import { usualScopes, type Person } from "../../../core/organisation.ts"
import type { Sourced } from "../../../org/organisation-admin.ts"
import type { Caller } from "./caller.ts"
import { endpoint, type Api, type Endpoint } from "./endpoint.ts"
import { personRow, sessionsEnded, type PersonRowJson } from "./org-page-schemas.ts"
import { HttpProblem, notFound } from "./problem.ts"
import { actor, byId, entry, resource, text } from "./resource.ts"

const people = resource("/v1/people", "Organisation")
const fields = { name: text.max(200).optional(), roles: z.array(text).optional() }
const days = z.number().positive().max(3650).nullable().optional()
const lifetime = { days: days.describe("How long the token works (90); null is for ever.") }
const withToken = z.object({ person: entry, token: z.string() })
const ofToken = { path: "/v1/people/{id}/token", tag: "Organisation", scope: "manage", params: byId } as const

export const peopleEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "get",
    path: "/v1/people",
    summary: "The people who answer approvals, with what they may do and where they are signed in.",
    tag: "Organisation",
    scope: "read",
    answers: { 200: z.object({ items: z.array(personRow) }) },
    handle: ({ api, caller }) => {
      const known = api.app.org.listPeople()
      const isListed = known.some(({ id, status }) => id === caller.id && status === "active")
      const all = caller.kind === "person" && !isListed ? [machineUser(caller), ...known] : known
      return { items: all.map((person) => personRowOf(api, caller, person)) }
    },
  }),
  endpoint({
    method: "delete",
    path: "/v1/people/{id}/sessions",
    summary:
      "Signs a person out everywhere, and ends their unused sign-in links: oneself, or anybody with the scope manage.",
    tag: "Organisation",
    scope: "read",
    params: byId,
    answers: { 200: sessionsEnded },
    async handle({ api, caller, params: { id } }) {
      if (caller.id !== id && !caller.scopes.includes("manage"))
        throw new HttpProblem(403, `These are sessions of ${id}. Only they, or people who may manage, end them.`, {
          code: "not_your_sessions",
          params: { person: id },
        })
      if (caller.id !== id && api.app.org.findPerson(id) === undefined) throw notFound("person", id)
      return { ended: await api.app.signIn.endAll(id, caller.id) }
    },
  }),
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

/** This machine's user has no entry, and has sessions and a PIN all the same. */
function machineUser({ id, name, roles, scopes }: Caller): Listed {
  return { id, name, roles, scopes, status: "active", source: "this machine" }
}

type Listed = Omit<Person, "createdBy" | "madeBy" | "createdAt"> & Pick<Sourced<Person>, "source">

function personRowOf({ app }: Api, caller: Caller, person: Listed): PersonRowJson {
  const { tokenHash: _hash, ...shown } = person
  const { sessions, lastSignIn } = app.signIn.sessionsOf(person.id)
  const seesAll = caller.id === person.id || caller.scopes.includes("manage")
  return {
    ...shown,
    roles: [...person.roles],
    scopes: [...(person.scopes ?? usualScopes)],
    hasToken: person.hasToken === true,
    pin: app.pins.isSet(person.id),
    ...(seesAll && lastSignIn !== undefined ? { lastSignIn } : {}),
    sessions: seesAll
      ? sessions.map(({ id, startedAt, expiresAt, isMachineUser: machineUser }) => {
          return { id, startedAt, expiresAt, machineUser, current: id === caller.sessionId }
        })
      : [],
  }
}

function msOf(given: number | null | undefined): number | null | undefined {
  return typeof given === "number" ? Math.round(given * 24 * 60 * 60_000) : given
}
