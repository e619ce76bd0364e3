import { z } from "zod"
import type { Endpoint } from "./endpoint.ts"
import { actor, entry, resource, text } from "./resource.ts"

const people = resource("/v1/people", "Organisation")
const fields = { name: text.max(200).optional(), roles: z.array(text).optional() }

export const peopleEndpoints: readonly Endpoint[] = [
  people.list("The people who answer approvals.", ({ app }) =>
    app.org.listPeople().map(({ tokenHash: _hash, ...person }) => person),
  ),
  people.create(
    "Adds a person. Their token is shown only in this answer.",
    z.object({ id: text.max(200), ...fields }),
    ({ api, caller, body }) => api.app.org.createPerson(body, actor(caller)),
    z.object({ person: entry, token: z.string() }),
  ),
  people.change("Changes a person.", z.object(fields), ({ api, caller, params, body }) =>
    api.app.org.updatePerson(params.id, body, actor(caller)),
  ),
  people.remove("Removes a person. Their token and sessions stop working.", ({ api, caller, params }) =>
    api.app.org.deletePerson(params.id, actor(caller)),
  ),
]
