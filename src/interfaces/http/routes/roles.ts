import { z } from "zod"
import type { Endpoint } from "./endpoint.ts"
import { actor, resource, text } from "./resource.ts"

const name = text.max(200)
const roleFields = {
  rolePrompt: z.string().max(100_000).optional(),
  toolGroups: z.array(text).nullable().optional(),
  department: text.optional(),
  level: z.number().optional(),
  dialect: z.enum(["native", "claude", "classic"]).optional(),
  llmServiceId: text.nullable().optional(),
}

const roles = resource("/v1/roles", "Organisation")
const departments = resource("/v1/departments", "Organisation")

export const roleEndpoints: readonly Endpoint[] = [
  roles.list("The roles.", ({ app }) => app.org.listRoles()),
  roles.create(
    "Creates a role, or returns the one of that name.",
    z.object({ name, ...roleFields }),
    async ({ api, caller, body }) => (await api.app.org.createRole(body, actor(caller))).role,
  ),
  roles.change(
    "Changes the given fields of a role.",
    z.object({ name: name.optional(), ...roleFields }),
    async ({ api, caller, params, body: { name: renamed, ...rest } }) => {
      const change = renamed === undefined ? rest : { ...rest, name: renamed }
      return (await api.app.org.updateRole(params.id, change, actor(caller))).role
    },
  ),
  roles.remove("Deletes a role.", ({ api, caller, params }) => api.app.org.deleteRole(params.id, actor(caller))),

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
