import { queryOptions } from "@tanstack/react-query"
import type { McpPin, McpServerState } from "../../../src/core/mcp.ts"
import type { AuditEntryJson } from "../../../src/interfaces/http/routes/audit-schemas.ts"
import type { ToolInfo } from "../../../src/interfaces/http/routes/tool-schemas.ts"
import { get } from "../api/http.ts"

/** An agent as the list of agents has it. `groups` is null where it has them all. */
export interface AgentInfo {
  readonly id: string
  readonly status: string
  readonly parentId?: string
  readonly roleName?: string
  readonly department?: string
  readonly groups?: readonly string[] | null
}

const items = async <T>(path: string) => (await get<{ items: T[] }>(path)).items

export const toolsQuery = queryOptions({ queryKey: ["tools", "all"], queryFn: () => items<ToolInfo>("/v1/tools") })

export const agentsQuery = queryOptions({
  queryKey: ["people", "agents"],
  queryFn: async () => (await items<AgentInfo>("/v1/agents")).filter(({ status }) => status === "active"),
})

/** Servers come and go without an event: they are read again while they are looked at. */
export const serversQuery = queryOptions({
  queryKey: ["tools", "servers"],
  queryFn: () => items<McpServerState>("/v1/servers"),
  refetchInterval: 5000,
})

export const pinsQuery = (server: string) =>
  queryOptions({
    queryKey: ["tools", "pins", server],
    queryFn: () => items<McpPin>(`/v1/servers/${encodeURIComponent(server)}/pins`),
  })

/** All entries of one call, oldest first. */
export const recordQuery = (callId: string) =>
  queryOptions({
    queryKey: ["audit", "call", callId],
    queryFn: () => items<AuditEntryJson>(`/v1/audit/${encodeURIComponent(callId)}`),
    retry: false,
  })

/** Reports whether an agent can change the organisation. Only people who may manage call as such an agent. */
export const managesOrganisation = ({ id, groups }: AgentInfo) =>
  id === "root" || groups === null || (groups ?? []).includes("org_management")
