import { z } from "zod"
import type { Api, Endpoint } from "./endpoint.ts"
import { endpoint, Reply } from "./endpoint.ts"
import { cardsOf, goneProblem } from "./approvals.ts"
import { callerOfPerson, type Caller } from "./caller.ts"
import { HttpProblem, notFound } from "./problem.ts"
import { answerLink } from "./schemas.ts"

const linkBody = z.object({
  person: z.string().min(1).optional().describe("Who answers with it. Another person than yourself needs manage."),
})

export const linkEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "post",
    path: "/v1/approvals/{id}/links",
    summary: "Makes a link that answers an item without signing in: as one person, once, for 15 minutes.",
    tag: "Approvals",
    scope: "approve",
    params: z.object({ id: z.string().min(1) }),
    body: linkBody,
    answers: { 201: answerLink },
    async handle({ api, caller, params: { id }, body }) {
      const who = personFor(api, caller, body.person)
      const item = await api.app.approvals.show(id)
      if (item === undefined) throw await goneProblem(api.app, id, 410, "It no longer waits.")
      const { callId, kind, revision } = item
      const target = { callId, kind, revision, person: who.id, isMachineUser: who.isMachineUser }
      const { secret, expiresAt } = await api.app.answerLinks.create(target, caller.id)
      const [card] = cardsOf(api, who, [item])
      const url = `${api.baseUrl()}/answer/${secret}`
      return new Reply({ url, callId, revision, person: who.id, risk: card!.risk.band, expiresAt }, 201)
    },
  }),
]

/** Whoever asks, or the person they name. */
function personFor({ app }: Api, caller: Caller, named: string | undefined): Caller {
  if (named === undefined || named === caller.id) return caller
  if (!caller.scopes.includes("manage"))
    throw new HttpProblem(403, "Only people who may manage make links for somebody else.", { code: "missing_scope" })
  if (app.org.findPerson(named)?.status !== "active") throw notFound("person", named)
  const person = callerOfPerson(app, named, false)
  if (person.scopes.includes("approve")) return person
  throw new HttpProblem(
    422,
    `${named} may not answer: the scope 'approve' is missing. Give it to them in org.people.`,
    {
      code: "missing_scope",
      params: { id: named, scope: "approve" },
    },
  )
}
