import { z } from "zod"
import { OrganisationError } from "../../../org/organisation-admin.ts"
import { endpoint, type Api, type Endpoint } from "./endpoint.ts"
import { newRole, roleChange, rolePage, rolePreview, rolePreviewBody } from "./org-page-schemas.ts"
import { HttpProblem, notFound } from "./problem.ts"
import { actor, byId, entry, resource, text } from "./resource.ts"
import { rolePage as pageOf, rolePreview as previewOf, roleRows } from "./role-page.ts"

const name = text.max(200)
const roles = resource("/v1/roles", "Organisation")
const departments = resource("/v1/departments", "Organisation")

const common = { tag: "Organisation", scope: "read" } as const

export const roleEndpoints: readonly Endpoint[] = [
  roles.list("The roles, with how many agents have each.", ({ app }) => roleRows(app)),
  endpoint({
    ...common,
    method: "get",
    path: "/v1/roles/{id}",
    summary: "A role with its groups, what their tools do for its agents, and what deleting it means.",
    params: byId,
    answers: { 200: rolePage },
    handle: ({ api, params }) => pageOf(api, params.id),
  }),
  endpoint({
    ...common,
    method: "post",
    path: "/v1/roles/preview",
    summary: "Which tools agents would gain and lost if a role were changed so. Saves nothing.",
    body: rolePreviewBody,
    answers: { 200: rolePreview },
    handle: ({ api, body }) => previewOf(api.app, body.id, body.change),
  }),
  roles.create(
    "Creates a role, or returns the one of that name; with copyOf, begins with the fields of another one.",
    newRole,
    async ({ api: { app }, caller, body: { copyOf, ...given } }) => {
      if (copyOf === undefined) return (await app.org.createRole(given, actor(caller))).role
      const original = app.org.findRole(copyOf)
      if (original === undefined) throw notFound("role", copyOf)
      const { rolePrompt, toolGroups, department, level, dialect, llmServiceId, pins } = original
      const fields = { rolePrompt, toolGroups, department, level, dialect, llmServiceId, pins }
      const copied = {
        ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
        ...given,
      }
      const { role, created } = await app.org.createRole(copied, actor(caller))
      if (!created)
        throw new HttpProblem(409, `There is a role '${given.name}' already. Choose another name for the copy.`, {
          code: "name_taken",
        })
      return role
    },
  ),
  roles.change(
    "Changes the given fields of a role.",
    roleChange,
    ({ api, caller, params, body: { name: renamed, revision, ...rest } }) => {
      const change = renamed === undefined ? rest : { ...rest, name: renamed }
      return orChanged(api, params.id, async () => {
        return (await api.app.org.updateRole(params.id, change, actor(caller), revision)).role
      })
    },
  ),
  endpoint({
    method: "delete",
    path: "/v1/roles/{id}",
    summary: "Deletes a role. Its agents can do nothing until they have another one.",
    tag: "Organisation",
    scope: "manage",
    params: byId,
    query: z.object({ revision: text.optional() }),
    answers: { 200: entry },
    handle: ({ api, caller, params, query }) =>
      orChanged(api, params.id, () => api.app.org.deleteRole(params.id, actor(caller), query.revision)),
  }),

  departments.list("The departments.", ({ app }) => app.org.listDepartments()),
  departments.create("Creates a department.", z.object({ id: name, name: name.optional() }), ({ api, caller, body }) =>
    api.app.org.createDepartment(body, actor(caller)),
  ),
  departments.change("Renames a department.", z.object({ name }), ({ api, caller, params, body }) =>
    api.app.org.renameDepartment(params.id, body.name, actor(caller)),
  ),
  departments.remove("Deletes a department.", ({ api, caller, params }) =>
    api.app.org.deleteDepartment(params.id, actor(caller)),
  ),
]

/** A change on top of an older revision is answered with the role as it is now. */
async function orChanged<T>(api: Api, id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OrganisationError) || error.code !== "changed_meanwhile") throw error
    throw new HttpProblem(409, error.message, { code: "changed_meanwhile", current: pageOf(api, id) })
  }
}
