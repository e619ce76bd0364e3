import type { Quartermaster } from "../../../app/quartermaster.ts"
import type { AgentView, Role } from "../../../core/organisation.ts"
import { sources } from "../../../org/configured-organisation.ts"
import { OrganisationError, type Sourced } from "../../../org/organisation-admin.ts"
import type { RolePreview } from "../../../org/role-preview.ts"
import { agentsBelow } from "./organisation-tree.ts"
import { groupVerdicts, unfrozen } from "./agent-panel.ts"
import type { Api } from "./endpoint.ts"
import type { RoleChangeBody, RolePageJson, RolePreviewJson, RoleRowJson } from "./org-page-schemas.ts"
import { notFound } from "./problem.ts"

type App = Quartermaster

/** The roles, each with how many agents have it. */
export function roleRows({ org }: App): RoleRowJson[] {
  const counts = new Map<string, number>()
  for (const { roleId } of org.listAgents()) counts.set(roleId, (counts.get(roleId) ?? 0) + 1)
  return org.listRoles().map((role) => rowOf(role, counts.get(role.id) ?? 0))
}

function rowOf(role: Sourced<Role>, agents: number): RoleRowJson {
  return { ...role, toolGroups: role.toolGroups === null ? null : [...role.toolGroups], agents }
}

/** A role with everything its page shows. */
export function rolePage({ app }: Pick<Api, "app">, id: string): RolePageJson {
  const { org } = app
  const role = org.findRole(id)
  if (role === undefined) throw notFound("role", id)
  const agents = org.listAgents()
  const having = agents.filter(({ roleId }) => roleId === role.id)
  const levels = new Set([...org.listRoles(), ...agents].flatMap(({ level }) => level ?? []))
  return {
    role: rowOf(role, having.length),
    revision: org.roleRevision(role.id),
    editable: role.source === sources.store,
    ...(role.source === sources.store ? {} : { locked: lockedBecause(role) }),
    agents: having.map(({ id }) => {
      const { level, department } = org.view(id) ?? {}
      return { id, level, department }
    }),
    groups: groupVerdicts(app, org.viewOfRole(role)),
    models: app.models.list().map(({ name }) => name),
    levels: [...levels].sort((one, other) => one - other).map((level) => ({ level, name: String(level) })),
    departments: org.listDepartments().map(({ id, name }) => ({ id, name })),
    deleting: {
      agents: withBelow(
        app,
        having.map(({ id }) => id),
      ),
      rules: app.rules
        .list()
        .filter((rule) => rule.role?.some((name) => name === role.name || name === role.id) === true)
        .map(({ source }) => source),
    },
  }
}

function lockedBecause({ name, source }: Sourced<Role>): string {
  return source === sources.builtIn
    ? `Role '${name}' is built in and cannot be changed, so that somebody can always manage the organisation. Copy it to make one of your own.`
    : `Role '${name}' is written in the configuration, under org.roles. Change it there.`
}

/** These agents and all below them. */
function withBelow({ org }: App, ids: readonly string[]): string[] {
  const agents = org.listAgents()
  return [...new Set(ids.flatMap((id) => [id, ...agentsBelow(agents, id)]))]
}

/** Previews the effect of a role's change on agents. It is decided as their lists of tools are. */
export function rolePreview(app: App, id: string | undefined, change: RoleChangeBody): RolePreviewJson {
  const { revision, ...fields } = change
  const role = id === undefined ? undefined : app.org.findRole(id)
  if (id !== undefined && role === undefined) throw notFound("role", id)
  const agents = app.org.listAgents().filter(({ roleId }) => roleId === role?.id)
  const concerned = role === undefined ? [] : withBelow(app, agents.map(({ id }) => id)) // prettier-ignore
  try {
    if (role !== undefined && revision !== undefined && revision !== app.org.roleRevision(role.id))
      throw new OrganisationError(
        "changed_meanwhile",
        "The role changed since you read it. Read it again, then change it.",
      )
    const preview = app.org.previewRole(role?.id, fields)
    const having = agents.map(({ id }) => id)
    return changesOf(app, preview, { concerned, having, before: role })
  } catch (error) {
    return refusal(app, error, { concerned, before: role })
  }
}

/** What another role would change for an agent and those below it. */
export function agentRolePreview(app: App, id: string, roleName: string): RolePreviewJson {
  const agent = app.org.findAgent(id)
  if (agent === undefined) throw notFound("agent", id)
  const concerned = withBelow(app, [id])
  const before = app.org.findRole(agent.roleId)
  try {
    return changesOf(app, app.org.previewAgentRole(id, roleName), { concerned, having: [id], before })
  } catch (error) {
    return refusal(app, error, { concerned, before })
  }
}

interface Concerned {
  readonly concerned: readonly string[]
  /** Those of them that have the changed role themselves. */
  readonly having: readonly string[]
  readonly before: Role | undefined
}

function changesOf(app: App, preview: RolePreview, { concerned, having, before }: Concerned): RolePreviewJson {
  const changes = concerned.map((agentId) => toolChange(app, agentId, preview.view(agentId)))
  const isChanged = ({ gained, lost, asksNow, runsNow }: Changed) =>
    gained.length + lost.length + asksNow.length + runsNow.length > 0
  return {
    agents: changes.filter(isChanged),
    unchanged: changes.filter((each) => !isChanged(each)).map(({ id }) => id),
    limited: having.flatMap((agentId) => limitOf(app, preview.view(agentId), before, preview.newAgent)),
    groups: groupVerdicts(app, preview.newAgent),
  }
}

function refusal(app: App, error: unknown, { concerned, before }: Omit<Concerned, "having">): RolePreviewJson {
  if (!(error instanceof OrganisationError)) throw error
  return {
    agents: [],
    unchanged: [...concerned],
    limited: [],
    groups: before === undefined ? [] : groupVerdicts(app, app.org.viewOfRole(before)),
    refused: { code: error.code, sentence: error.message },
  }
}

/** The groups that a role would gain and that an agent with it cannot have, because the agent above it has not. */
function limitOf(
  app: App,
  view: AgentView | undefined,
  before: Role | undefined,
  { groups }: AgentView,
): RolePreviewJson["limited"] {
  const above = view?.ancestors[0]
  if (view === undefined || above === undefined) return []
  const wanted = groups ?? app.listGroups().map(({ id }) => id)
  const gained = wanted.filter((group) => before?.toolGroups?.includes(group) !== true)
  const lacking = before?.toolGroups === null ? [] : gained.filter((group) => view.groups?.includes(group) === false)
  return lacking.length === 0 ? [] : [{ id: view.agent.id, by: above.agent.id, groups: lacking }]
}

type Changed = RolePreviewJson["agents"][number]

function toolChange(app: App, id: string, after: AgentView | undefined): Changed {
  const now = app.org.view(id)
  const does = (view: AgentView | undefined) =>
    new Map(view === undefined ? [] : app.rules.toolsFor(unfrozen(view)).map(({ tool, does }) => [tool.name, does]))
  const [before, then] = [does(now), does(after)]
  const named = [...new Set([...before.keys(), ...then.keys()])]
  const from = (name: string) => before.get(name) ?? "denied"
  const to = (name: string) => then.get(name) ?? "denied"
  return {
    id,
    gained: named.filter((name) => from(name) === "denied" && to(name) !== "denied"),
    lost: named.filter((name) => from(name) !== "denied" && to(name) === "denied"),
    asksNow: named.filter((name) => from(name) === "runs" && to(name) === "asks"),
    runsNow: named.filter((name) => from(name) === "asks" && to(name) === "runs"),
  }
}
