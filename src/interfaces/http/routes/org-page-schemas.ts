import { z } from "zod"
import { activities } from "../../../core/organisation.ts"
import { rememberedAnswer } from "./rules-page-schemas.ts"
import { scope } from "./schemas.ts"

/*
 * GET    /v1/organisation?since                organisationTree: all live agents, or what changed since a revision
 * GET    /v1/agents/{id}                       agentPanel
 * GET    /v1/agents/{id}/end                   agentEnd: what terminating it ends
 * GET    /v1/agents/{id}/preview?role          rolePreview: what another role changes; saves nothing
 * PATCH  /v1/agents/{id}                       { role } → the agent
 * DELETE /v1/agents/{id}                       terminates it and all agents below it
 * POST   /v1/freeze, /v1/thaw, /v1/messages    as before
 *
 * GET    /v1/roles                             { items: roleRow[] }
 * GET    /v1/roles/{id}                        rolePage
 * POST   /v1/roles/preview                     rolePreviewBody → rolePreview; saves nothing
 * POST   /v1/roles                             creates one; with `copyOf`, from another role
 * PATCH  /v1/roles/{id}                        with `revision`; 409 `changed_meanwhile` with `current`, a rolePage
 * DELETE /v1/roles/{id}?revision               what it means: rolePage.deleting
 *
 * GET    /v1/people                            { items: personRow[] }
 * DELETE /v1/people/{id}/sessions              signs them out everywhere → { ended }; one's own, or any with manage
 * GET    /v1/tokens                            { items: tokenRow[] }
 *
 * On /v1/events: `document` with the kinds agent, role, department, person, freeze, token, session; `call`, `audit`,
 * `message` and `conversation` for what agents do. After any of them: GET /v1/organisation?since=<revision>.
 */

const text = z.string().min(1)
const time = z.number().describe("Milliseconds since 1970, by the server's clock.")

const freeze = z.object({
  agentId: z.string().optional().describe("The agent that was frozen with those below it; left out: everyone."),
  by: z.string(),
  at: time,
  because: z.string().optional(),
})

export const treeAgent = z
  .object({
    id: z.string(),
    parentId: z.string().optional(),
    role: z.string().describe("The name of its role."),
    roleId: z.string(),
    roleByAgent: z.boolean(),
    level: z.number().optional(),
    department: z.string().optional(),
    source: z.string().describe("`built in`, `configuration` or `store`."),
    createdBy: z.string(),
    madeBy: z.enum(["configuration", "person", "agent"]),
    activity: z.enum(activities),
    runEnded: z.boolean().describe("It is idle, and the run that it was made for has ended."),
    waitsFor: z.array(z.string()).describe("Agents whose answers it waits for."),
    questions: z
      .array(z.object({ callId: z.string(), tool: z.string(), kind: z.string(), until: time }))
      .describe("What it waits for a person with."),
    frozen: freeze.optional(),
    running: z
      .array(z.object({ callId: z.string(), tool: z.string(), summary: z.string(), since: time }))
      .describe("The calls of it that this server runs now."),
    unread: z.number(),
    cost: z.number().describe("What its models used today (UTC), in the currency of the configured prices."),
  })
  .meta({ id: "TreeAgent" })

export const organisationTree = z
  .object({
    revision: z.string().describe("Opaque: send it as `since`."),
    whole: z.boolean().describe("False: `agents` has those that changed, and `gone` the ids of those that ended."),
    agents: z.array(treeAgent),
    gone: z.array(z.string()),
    cost: z.number().describe("Of all agents today."),
    now: time,
  })
  .meta({ id: "OrganisationTree" })

export const treeQuery = z.object({ since: z.string().optional() })

/** The verdict on a tool for an agent, whatever the input: by level, mode, remembered answers, general rules. */
export const toolVerdict = z
  .object({
    name: z.string(),
    title: z.string().optional(),
    does: z.enum(["runs", "asks", "denied"]).describe("`denied`: it is not in the agent's list of tools."),
    reason: z.object({ check: z.string(), source: z.string(), code: z.string(), sentence: z.string() }).optional(),
  })
  .meta({ id: "ToolVerdict" })

export const groupVerdicts = z
  .object({
    id: z.string(),
    description: z.string(),
    has: z.boolean().describe("Whether the agent or the role has the group."),
    tools: z.array(toolVerdict),
  })
  .meta({ id: "GroupVerdicts" })

const recentCall = z.looseObject({
  callId: z.string(),
  at: time,
  tool: z.string(),
  summary: z.string(),
  status: z.string(),
  code: z.string().optional(),
  durationMs: z.number(),
  asked: z.boolean(),
  held: z.boolean(),
  ran: z.boolean(),
  waitedMs: z.number().optional(),
})

const message = z.looseObject({
  id: z.string(),
  from: z.string(),
  to: z.string(),
  payload: z.unknown(),
  kind: z.string(),
  createdAt: time,
  readAt: time.nullable(),
})

export const agentPanel = z
  .object({
    agent: treeAgent,
    rolePrompt: z.string(),
    model: z.string().nullable(),
    lastHour: z.object({
      calls: z.number(),
      failures: z.number(),
      asked: z.number(),
      yes: z.number(),
      no: z.number(),
      minutes: z.array(z.number()).describe("Calls of each two minutes, oldest first."),
      recent: z.array(recentCall).describe("The newest 50."),
    }),
    costBelow: z.number().describe("What it and the agents below it used today."),
    groups: z.array(groupVerdicts),
    counts: z.object({ runs: z.number(), asks: z.number(), denied: z.number() }),
    grants: z.array(rememberedAnswer),
    messages: z.array(message).describe("To it and from it, newest first, at most 100."),
    below: z.array(z.string()).describe("All agents below it."),
    may: z.object({ freeze: z.boolean(), message: z.boolean(), manage: z.boolean() }),
  })
  .meta({ id: "AgentPanel" })

export const agentEnd = z
  .object({
    agents: z.array(z.string()).describe("That end with it, its own id first."),
    calls: z.array(z.object({ callId: z.string(), agentId: z.string(), tool: z.string() })).describe("That wait."),
    conversations: z
      .array(z.object({ id: z.string(), agentId: z.string(), title: z.string() }))
      .describe("That are open."),
    refused: z.string().optional().describe("Why it cannot be ended: it is built in or stands in the configuration."),
  })
  .meta({ id: "AgentEnd" })

const roleFields = {
  rolePrompt: z.string().max(100_000).optional(),
  toolGroups: z.array(text).nullable().optional().describe("Null: all groups."),
  department: text.optional(),
  level: z.number().optional(),
  dialect: z.enum(["native", "claude", "classic"]).optional(),
  llmServiceId: text.nullable().optional().describe("The model of its agents; null: the usual one."),
}

export const roleChange = z
  .object({
    name: text.max(200).optional(),
    ...roleFields,
    revision: text.optional().describe("The one that was read. When the role changed since, nothing is saved (409)."),
  })
  .meta({ id: "RoleChange" })

export const newRole = z
  .object({
    name: text.max(200),
    copyOf: text.optional().describe("The id of the role whose fields it begins with."),
    ...roleFields,
  })
  .meta({ id: "NewRole" })

export const roleRow = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    status: z.enum(["active", "deleted"]),
    toolGroups: z.array(z.string()).nullable(),
    source: z.string(),
    createdBy: z.string(),
    madeBy: z.enum(["configuration", "person", "agent"]),
    createdAt: z.string(),
    agents: z.number().describe("How many live agents have it."),
  })
  .meta({ id: "RoleRow" })

export const rolePage = z
  .object({
    role: roleRow,
    revision: z.string().describe("Opaque, for PATCH and DELETE."),
    editable: z.boolean(),
    locked: z.string().optional().describe("Why it cannot be changed here."),
    agents: z.array(z.object({ id: z.string(), level: z.number().optional(), department: z.string().optional() })),
    groups: z.array(groupVerdicts).describe("Every group, with what its tools do for a new agent of this role."),
    models: z.array(z.string()),
    levels: z.array(z.object({ level: z.number(), name: z.string() })),
    departments: z.array(z.object({ id: z.string(), name: z.string() })),
    deleting: z.object({
      agents: z.array(z.string()).describe("Agents that could do nothing any more, with those below them."),
      rules: z.array(z.string()).describe("The sources of rules that name it."),
    }),
  })
  .meta({ id: "RolePage" })

export const rolePreviewBody = z
  .object({ id: text.optional().describe("Left out for a new role."), change: roleChange })
  .meta({ id: "RolePreviewBody" })

export const rolePreview = z
  .object({
    agents: z
      .array(
        z.object({
          id: z.string(),
          gained: z.array(z.string()).describe("Tools that come into its list."),
          lost: z.array(z.string()),
          asksNow: z.array(z.string()).describe("Tools that ran unasked and would ask."),
          runsNow: z.array(z.string()).describe("Tools that asked and would run unasked."),
        }),
      )
      .describe("Agents with the role or below one of those, as far as something changes for them."),
    unchanged: z.array(z.string()),
    limited: z
      .array(z.object({ id: z.string(), by: z.string(), groups: z.array(z.string()) }))
      .describe("Agents that do not gain these groups, because the agent `by` above them has not got them."),
    groups: z.array(groupVerdicts).describe("As rolePage.groups, with the change."),
    refused: z
      .object({ code: z.string(), sentence: z.string() })
      .optional()
      .describe(
        "Why saving would be refused: the name is taken, a group does not exist, the role stands in the configuration.",
      ),
  })
  .meta({ id: "RolePreview" })

export const personRow = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    roles: z.array(z.string()),
    scopes: z.array(scope),
    source: z.string(),
    pin: z.boolean(),
    hasToken: z.boolean(),
    tokenExpiresAt: time.optional(),
    lastSignIn: time.optional().describe("For oneself, and for people who may manage; the sessions too."),
    sessions: z.array(
      z.object({ id: z.string(), startedAt: time, expiresAt: time, current: z.boolean(), machineUser: z.boolean() }),
    ),
  })
  .meta({ id: "PersonRow" })

export const sessionsEnded = z.object({ ended: z.number() }).meta({ id: "SessionsEnded" })

export type TreeAgentJson = z.infer<typeof treeAgent>
export type OrganisationTreeJson = z.infer<typeof organisationTree>
export type GroupVerdictsJson = z.infer<typeof groupVerdicts>
export type AgentPanelJson = z.infer<typeof agentPanel>
export type AgentEndJson = z.infer<typeof agentEnd>
export type RoleRowJson = z.infer<typeof roleRow>
export type RolePageJson = z.infer<typeof rolePage>
export type RoleChangeBody = z.infer<typeof roleChange>
export type NewRoleBody = z.infer<typeof newRole>
export type RolePreviewJson = z.infer<typeof rolePreview>
export type PersonRowJson = z.infer<typeof personRow>
