import type { Quartermaster } from "../../../app/quartermaster.ts"
import type { CliContext } from "./context.ts"
import { ambiguousId, noSuch } from "./usage.ts"
import type { Agent } from "../../../core/organisation.ts"

type Organisation = Pick<Quartermaster, "org">

/** The id of an agent. Of one that was generated, the first characters are enough; names that people chose are whole. */
export function wholeAgentId(app: Organisation, given: string): string {
  const [id] = matchingAgents(app, given)
  if (id === undefined) throw unknownAgent(app, given)
  return id
}

/** Like `wholeAgentId`, for an agent that must not have ended. */
export function activeAgentId(app: Organisation, given: string): string {
  const id = wholeAgentId(app, given)
  if (app.org.findAgent(id)?.status !== "active") throw unknownAgent(app, given)
  return id
}

function unknownAgent({ org }: Organisation, given: string) {
  return noSuch(
    "agent",
    given,
    org.listAgents().map((agent) => agent.id),
  )
}

/** The agent of --agent where it selects entries: they may be of an agent that is not there any more. */
export function agentOfEntries({ flags: { agent } }: CliContext, app: Organisation): string | undefined {
  return agent === undefined ? undefined : (matchingAgents(app, agent)[0] ?? agent)
}

function matchingAgents({ org }: Organisation, given: string): string[] {
  if (given.trim() === "") return []
  if (org.findAgent(given) !== undefined) return [given]
  const found = org
    .listAgents({ includeTerminated: true })
    .filter(({ id, madeBy }) => id.startsWith(given) && (madeBy === "agent" || uuid.test(id)))
    .map(({ id }) => id)
  if (found.length > 1) throw ambiguousId(given, found)
  return found
}

/** Agents that people create without an id get one. */
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function requirePerson({ org }: Organisation, id: string): void {
  if (org.findPerson(id) !== undefined) return
  throw noSuch(
    "person",
    id,
    org.listPeople().map((each) => each.id),
  )
}

export function requireRole({ org }: Organisation, name: string): void {
  if (org.findRole(name) !== undefined) return
  throw noSuch(
    "role",
    name,
    org.listRoles().map((each) => each.name),
  )
}

export function requireDepartment({ org }: Organisation, id: string): void {
  const known = org.listDepartments().map((each) => each.id)
  if (!known.includes(id)) throw noSuch("department", id, known)
}

/** The ids of an agent's ancestors, nearest first, including terminated ones. */
export function ancestorIds(org: Quartermaster["org"], { id, parentId }: Pick<Agent, "id" | "parentId">): string[] {
  const above: string[] = []
  for (let next = parentId; next !== undefined && next !== id && !above.includes(next);) {
    above.push(next)
    next = org.findAgent(next)?.parentId
  }
  return above
}
