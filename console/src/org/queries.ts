import { queryOptions } from "@tanstack/react-query"
import type {
  AgentEndJson,
  AgentPanelJson,
  NewRoleBody,
  OrganisationTreeJson,
  RoleChangeBody,
  RolePageJson,
  RolePreviewJson,
  RoleRowJson,
  TreeAgentJson,
} from "../../../src/interfaces/http/routes/org-page-schemas.ts"
import { get, patch, post, remove } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { withChanges } from "./arrange.ts"

const agent = (id: string) => `/v1/agents/${encodeURIComponent(id)}`
const role = (id: string) => `/v1/roles/${encodeURIComponent(id)}`

/** All live agents. Once they were read, only what changed is asked for. */
export const treeQuery = queryOptions({
  queryKey: ["org", "tree"],
  queryFn: async (): Promise<OrganisationTreeJson> => {
    const before = queries.getQueryData<OrganisationTreeJson>(["org", "tree"])
    const since = before === undefined ? "" : `?since=${encodeURIComponent(before.revision)}`
    return withChanges(before, await get<OrganisationTreeJson>(`/v1/organisation${since}`))
  },
})

export const panelQuery = (id: string) =>
  queryOptions({ queryKey: ["org", "agent", id], queryFn: () => get<AgentPanelJson>(agent(id)), retry: false })
export const endQuery = (id: string) =>
  queryOptions({ queryKey: ["org", "end", id], queryFn: () => get<AgentEndJson>(`${agent(id)}/end`), gcTime: 0 })
/** What another role would mean for an agent and those below it. */
export const agentRoleQuery = (id: string, name: string) =>
  queryOptions({
    queryKey: ["org", "agent role", id, name],
    queryFn: () => get<RolePreviewJson>(`${agent(id)}/preview?role=${encodeURIComponent(name)}`),
  })

export const createAgent = (body: { id: string; role: string; parentId?: string }) =>
  post<TreeAgentJson>("/v1/agents", body)
export const changeAgentRole = (id: string, roleId: string) => patch(agent(id), { role: roleId })
export const terminate = (id: string) => remove(agent(id))
export const sendMessage = (to: string, payload: string) => post("/v1/messages", { to, payload })

export const rolesQuery = queryOptions({
  queryKey: ["org", "roles"],
  queryFn: async () =>
    (await get<{ items: RoleRowJson[] }>("/v1/roles")).items.filter(({ status }) => status === "active"),
})
export const roleQuery = (id: string) =>
  queryOptions({ queryKey: ["org", "role", id], queryFn: () => get<RolePageJson>(role(id)), retry: false })
export const previewRole = (id: string, change: RoleChangeBody) =>
  post<RolePreviewJson>("/v1/roles/preview", { id, change })
export const saveRole = (id: string, change: RoleChangeBody) => patch<RoleRowJson>(role(id), change)
export const createRole = (body: NewRoleBody) => post<RoleRowJson>("/v1/roles", body)
export const deleteRole = (id: string, revision: string) =>
  remove(`${role(id)}?revision=${encodeURIComponent(revision)}`)

interface DepartmentRow {
  readonly id: string
  readonly name: string
  readonly status: string
}
export const departmentsQuery = queryOptions({
  queryKey: ["org", "departments"],
  queryFn: async () =>
    (await get<{ items: DepartmentRow[] }>("/v1/departments")).items.filter(({ status }) => status === "active"),
})
export const createDepartment = (body: { id: string; name: string }) => post("/v1/departments", body)
export const removeDepartment = (id: string) => remove(`/v1/departments/${encodeURIComponent(id)}`)
