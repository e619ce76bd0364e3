import { randomBytes } from "node:crypto"
import { newId } from "../lib/new-id.ts"
import type { Agent, AgentView, Role } from "../core/organisation.ts"
import { OrganisationError, type ChangedBy, type NewAgent, type Sourced } from "./organisation-admin.ts"
import { plainProblems } from "../schema/json-problems.ts"
import { isInFolder } from "../lib/is-in-folder.ts"
import { workspaceFolder } from "./agent-folder.ts"
import {
  actingAgent,
  refuseBadId,
  refuseBadLevel,
  refuseBadPins,
  refuseConfigured,
  refuseUnknownDepartment,
  requirePerson,
} from "./validation.ts"
import { sources } from "./configured-organisation.ts"
import { writeDocument, type OrganisationContext } from "./write-document.ts"

/** Limit of ancestors of an agent that a person creates. */
const maxDepth = 100

/** Ids that mean something else wherever an agent's id is expected. */
const reserved = ["user", "configuration"]

/**
 * Creates an agent. When an agent creates it, it becomes that agent's child: it works on the same task, gets a generated
 * id, and its role must be one its parent created. Root may also give a role from a person or the configuration.
 */
export async function createAgent(context: OrganisationContext, given: NewAgent, by: ChangedBy): Promise<Agent> {
  await context.documents.refresh()
  if (by.kind === "agent" && context.roster.agent(by.id) === undefined) refuseParent(by.id)
  const parent = actingAgent(context, by)
  const role = context.roster.findRole(given.role)
  if (role === undefined)
    throw new OrganisationError(
      "unknown_role",
      `There is no role '${given.role}'. Create it first, for example with 'qm roles create --name ${given.role} --groups system'.`,
    )
  const draft: Agent = {
    ...(parent === undefined ? fieldsFromPerson(context, given) : fieldsFromAgent(given, role, parent)),
    roleId: role.id,
    taskBrief: given.taskBrief,
    ...folderOf(context, given, parent?.agent.id ?? given.parentId),
    status: "active",
    createdBy: by.id,
    madeBy: by.kind,
    createdAt: new Date(context.now()).toISOString(),
  }
  refuseBadBrief(given.taskBrief)
  refuseTooDeep(context, draft.parentId)
  // Counted and written in one transaction: several processes may create agents at once.
  const document = { kind: "agent", id: draft.id, knowsAll: parent !== undefined } as const
  const agent = await writeDocument<Agent>(context, document, by, (existing) => {
    if (parent !== undefined) refuseTooMany(context, parent)
    if (existing !== undefined || context.roster.configured.agents.has(draft.id)) refuseTakenId(draft.id)
    return { body: draft }
  })
  await refuseOrphan(context, agent, by)
  context.emit({ type: "AGENT_CHANGED", at: context.now(), agent: agent.id, change: "created" })
  return agent
}

/** The fields of an agent that a person creates. */
function fieldsFromPerson(context: OrganisationContext, given: NewAgent): Pick<Agent, "id"> & Partial<Agent> {
  const { id = newId(), level, parentId, taskId, pins } = given
  const department = given.department === "" ? undefined : given.department
  refuseBadId(id, "agent")
  if (reserved.includes(id) || context.roster.person(id) !== undefined) refuseTakenId(id)
  refuseBadLevel(level)
  refuseBadPins(pins)
  refuseUnknownDepartment(context, department)
  if (parentId !== undefined && context.views.view(parentId) === undefined) refuseParent(parentId)
  return { id, level, department, parentId, taskId, pins }
}

/** The fields of an agent that an agent creates. It may choose almost none of them. */
function fieldsFromAgent(
  given: NewAgent,
  role: Sourced<Role>,
  { agent }: AgentView,
): Pick<Agent, "id"> & Partial<Agent> {
  if (given.parentId !== undefined && given.parentId !== agent.id) refuseParent(given.parentId)
  const reservedField = (["id", "level", "department", "pins"] as const).find((field) => given[field] !== undefined)
  if (reservedField !== undefined) {
    throw new OrganisationError(
      "person_required",
      `Only a person can set the ${reservedField} of an agent. Leave it out.`,
    )
  }
  const isRoot = agent.id === "root"
  const own = role.madeBy === "agent" && role.createdBy === agent.id
  const shared = isRoot && role.madeBy !== "agent" && role.source !== sources.builtIn
  if (!own && !shared) {
    const sentence = `You did not create role '${role.name}'. Create a role of your own with create_role and use its id.`
    throw new OrganisationError("not_child_role", sentence)
  }
  return {
    id: spawnedId(role),
    parentId: agent.id,
    taskId: agent.taskId ?? given.taskId ?? (isRoot ? newId() : undefined),
  }
}

/** A name that people can read and say: the role's, and six letters that no other agent has. */
function spawnedId({ name }: Role): string {
  const word = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 24)
  const letters = Array.from(randomBytes(6), (byte) => "bcdfghjkmnpqrstvwxz23456789"[byte % 27])
  return `${word || "agent"}-${letters.join("")}`
}

/** The parent may have been terminated while the agent was created. Then the new agent is terminated too. */
async function refuseOrphan(context: OrganisationContext, { id, parentId }: Agent, by: ChangedBy): Promise<void> {
  if (parentId === undefined || context.views.view(parentId) !== undefined) return
  await writeDocument<Agent>(context, { kind: "agent", id }, by, (existing) => ({
    body: { ...existing!, status: "terminated", ended: { by: by.id, at: context.now() } },
    live: false,
  }))
  if (by.kind === "person") refuseParent(parentId)
  throw new OrganisationError(
    "caller_terminated",
    `Agent '${parentId}' ended while it created another agent, so no agent was created.`,
  )
}

function refuseTooDeep({ views }: OrganisationContext, parentId: string | undefined): void {
  const parent = parentId === undefined ? undefined : views.view(parentId)
  if (parent === undefined || parent.ancestors.length < maxDepth) return
  const sentence = `There are ${maxDepth} agents above agent '${parentId}' already. Let an agent further up create it.`
  throw new OrganisationError("spawn_too_deep", sentence)
}

/** Agents create only so many agents, and only so far down. */
function refuseTooMany({ roster, limits }: OrganisationContext, parent: AgentView): void {
  const depth = 1 + [parent, ...parent.ancestors].filter(({ agent }) => agent.madeBy === "agent").length
  if (depth > limits.maxDepth) {
    const sentence = `You may not create agents: they would be level ${depth} of agents that agents created, and agents.maxDepth is ${limits.maxDepth}. Do the work yourself, or ask whoever created you.`
    throw new OrganisationError("spawn_too_deep", sentence)
  }
  const live = roster.agents().filter(({ status, madeBy }) => status === "active" && madeBy === "agent").length
  if (live < limits.maxAgents) return
  const sentence = `Agents have created ${live} agents that still live, and agents.maxAgents is ${limits.maxAgents}. Terminate those that are done, then try again.`
  throw new OrganisationError("too_many_agents", sentence)
}

/** The folder of a new agent, checked: inside the workspace, and inside that of its nearest ancestor. */
function folderOf(
  { views }: OrganisationContext,
  { folder }: NewAgent,
  parentId: string | undefined,
): Pick<Agent, "folder"> {
  if (folder === undefined || folder === "") return {}
  const path = workspaceFolder(folder)
  if (path === undefined)
    throw new OrganisationError(
      "invalid_folder",
      `${JSON.stringify(folder)} is not a folder of the workspace. Write it relative to the workspace, for example docs/guide.`,
    )
  const above = parentId === undefined ? undefined : views.view(parentId)?.folder
  if (above !== undefined && !isInFolder(path, above))
    throw new OrganisationError(
      "folder_not_held",
      `The folder ${JSON.stringify(folder)} is not inside ${JSON.stringify(above)}, the folder of agent '${parentId}'. Choose one inside it.`,
    )
  return { folder: path }
}

/** Gives an agent another role. What it and the agents below it may do changes with their next call. */
export async function changeAgentRole(
  context: OrganisationContext,
  id: string,
  roleName: string,
  by: ChangedBy,
): Promise<Agent> {
  requirePerson(by, "change the role of an agent")
  await context.documents.refresh()
  const agent = await writeDocument<Agent>(context, { kind: "agent", id }, by, () => ({
    body: agentWithRole(context, id, roleName).agent,
  }))
  context.emit({ type: "AGENT_CHANGED", at: context.now(), agent: id, change: "updated" })
  return agent
}

/** An agent as another role would make it. Throws where giving it that role is refused. */
export function agentWithRole(
  { roster }: Pick<OrganisationContext, "roster">,
  id: string,
  roleName: string,
): { agent: Agent; role: Role } {
  const role = roster.findRole(roleName)
  if (role === undefined)
    throw new OrganisationError("unknown_role", `There is no role '${roleName}'. Choose one that exists.`)
  const { source, ...found } = roster.agent(id) ?? refuseUnknown(id)
  if (found.status !== "active") refuseUnknown(id)
  if (source === sources.builtIn)
    throw new OrganisationError(
      "cannot_change_system_agent",
      `Agent '${id}' is built in and keeps its role. Create an agent of your own.`,
    )
  refuseConfigured({ source }, `Agent '${id}'`, "org.agents")
  return { agent: { ...found, roleId: role.id }, role }
}

function refuseUnknown(id: string): never {
  const sentence = `There is no agent '${id}', or it has ended. List the agents to see which there are.`
  throw new OrganisationError("agent_not_found", sentence)
}

function refuseBadBrief(taskBrief: unknown): void {
  const problems = plainProblems(taskBrief)
  if (problems.length === 0) return
  const sentence = `The task brief must be plain JSON: ${problems.join(", ")}.`
  throw new OrganisationError("invalid_task_brief", sentence, { problems })
}

function refuseParent(parentId: string): never {
  throw new OrganisationError(
    "invalid_parentAgentId",
    `Agent '${parentId}' cannot be the parent of a new agent: it is not known, has ended, or is not the agent that creates it.`,
  )
}

function refuseTakenId(id: string): never {
  const sentence = `The id '${id}' is taken. An id is never given out twice, not even after its agent ended.`
  throw new OrganisationError("agent_exists", sentence)
}
