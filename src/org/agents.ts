import { newId } from "../model/identity.ts"
import type { Agent, AgentView, Role } from "../model/organisation.ts"
import { OrganisationError, type Actor, type NewAgent, type Sourced } from "../model/organisation-book.ts"
import { plainProblems } from "../model/plain.ts"
import { makerOf, refuseBadId, refuseBadLevel, refuseBadPins, refuseUnknownDepartment } from "./checks.ts"
import { sources } from "./configured.ts"
import { keep, type Office } from "./office.ts"

/** How many agents may stand above one another. */
const deepest = 100

/** Words that stand for somebody else wherever an agent's id does. */
const reserved = ["user", "configuration"]

/**
 * Makes an agent. One that an agent spawns stands below it, works on its task, has an id of ours and a role its spawner
 * made; root may also give a role that a person or the configuration made.
 */
export async function createAgent(office: Office, given: NewAgent, by: Actor): Promise<Agent> {
  await office.documents.refresh()
  if (by.kind === "agent" && office.roster.agent(by.id) === undefined) refuseParent(by.id)
  const spawner = makerOf(office, by)
  const role = office.roster.roleCalled(given.role)
  if (role === undefined)
    throw new OrganisationError("unknown_role", `There is no role '${given.role}'. Create it first.`)
  const made: Agent = {
    ...(spawner === undefined ? placed(office, given) : spawned(given, role, spawner)),
    roleId: role.id,
    taskBrief: given.taskBrief,
    status: "active",
    createdBy: by.id,
    madeBy: by.kind,
    createdAt: new Date(office.now()).toISOString(),
  }
  refuseBadBrief(given.taskBrief)
  refuseTooDeep(office, made.parentId)
  const agent = await keep<Agent>(office, { kind: "agent", id: made.id }, by, (there) => {
    if (there !== undefined || office.roster.configured.agents.has(made.id)) refuseTakenId(made.id)
    return { body: made }
  })
  await refuseOrphan(office, agent, by)
  office.emit({ type: "AGENT_CHANGED", at: office.now(), agent: agent.id, change: "created" })
  return agent
}

/** What a person says about an agent. */
function placed(office: Office, given: NewAgent): Pick<Agent, "id"> & Partial<Agent> {
  const { id = newId(), level, parentId, taskId, pins } = given
  const department = given.department === "" ? undefined : given.department
  refuseBadId(id, "agent")
  if (reserved.includes(id) || office.roster.person(id) !== undefined) refuseTakenId(id)
  refuseBadLevel(level)
  refuseBadPins(pins)
  refuseUnknownDepartment(office, department)
  if (parentId !== undefined && office.views.view(parentId) === undefined) refuseParent(parentId)
  return { id, level, department, parentId, taskId, pins }
}

/** What an agent may say about the agent it spawns: next to nothing. */
function spawned(given: NewAgent, role: Sourced<Role>, { agent }: AgentView): Pick<Agent, "id"> & Partial<Agent> {
  if (given.parentId !== undefined && given.parentId !== agent.id) refuseParent(given.parentId)
  const theirs = (["id", "level", "department", "pins"] as const).find((field) => given[field] !== undefined)
  if (theirs !== undefined) {
    throw new OrganisationError("person_required", `Only a person can set the ${theirs} of an agent. Leave it out.`)
  }
  const isRoot = agent.id === "root"
  const own = role.madeBy === "agent" && role.createdBy === agent.id
  const shared = isRoot && role.madeBy !== "agent" && role.source !== sources.builtIn
  if (!own && !shared) {
    const sentence = `You did not make role '${role.name}'. Create a role of your own with create_role and use its id.`
    throw new OrganisationError("not_child_role", sentence)
  }
  return { id: newId(), parentId: agent.id, taskId: agent.taskId ?? given.taskId ?? (isRoot ? newId() : undefined) }
}

/** Whoever stands above may have ended while the agent was made. Then it ends too. */
async function refuseOrphan(office: Office, { id, parentId }: Agent, by: Actor): Promise<void> {
  if (parentId === undefined || office.views.view(parentId) !== undefined) return
  await keep<Agent>(office, { kind: "agent", id }, by, (there) => ({
    body: { ...there!, status: "terminated", ended: { by: by.id, at: office.now() } },
    live: false,
  }))
  if (by.kind === "person") refuseParent(parentId)
  throw new OrganisationError(
    "caller_terminated",
    `Agent '${parentId}' ended while it spawned another. Nothing was made.`,
  )
}

function refuseTooDeep({ views }: Office, parentId: string | undefined): void {
  const above = parentId === undefined ? undefined : views.view(parentId)
  if (above === undefined || above.spawners.length < deepest) return
  const sentence = `There are ${deepest} agents above agent '${parentId}' already. Let one further up do it.`
  throw new OrganisationError("spawn_too_deep", sentence)
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
    `Agent '${parentId}' cannot stand above a new one: it is not known, has ended, or is not the one that spawns.`,
  )
}

function refuseTakenId(id: string): never {
  const sentence = `The id '${id}' is taken. An id is never given out twice, not even after its agent ended.`
  throw new OrganisationError("agent_exists", sentence)
}
