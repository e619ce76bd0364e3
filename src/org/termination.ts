import type { Agent } from "../model/organisation.ts"
import { OrganisationError, type Actor, type Sourced } from "../model/organisation-book.ts"
import { makerOf, refuseConfigured } from "./checks.ts"
import { sources } from "./configured.ts"
import { keep, type Office } from "./office.ts"

/**
 * Ends an agent and everyone below it; their documents stay. From the first step on nobody below has anything, because
 * whoever stands below one that ended has nothing. An agent ends its own children only.
 */
export async function terminateAgent(office: Office, id: string, by: Actor, reason?: string): Promise<string[]> {
  await office.documents.refresh()
  makerOf(office, by)
  const agent = office.roster.agent(id)
  if (agent?.status !== "active") refuseUnknown(id)
  refuseUnending(agent, by)
  if (!(await end(office, id, by, reason === "" ? undefined : reason))) refuseUnknown(id)
  const ended = [id]
  try {
    // Whoever is spawned from now on finds that somebody above it has ended.
    for (const { id: child, parentId } of liveBelow(office, id)) {
      if (await end(office, child, by, `Agent '${parentId}' above it was terminated.`)) ended.push(child)
    }
  } finally {
    for (const agent of ended) office.emit({ type: "AGENT_CHANGED", at: office.now(), agent, change: "terminated" })
    await office.terminated(ended)
    for (const agent of ended) office.ending.delete(agent)
  }
  return ended
}

/** False when somebody else was first. */
async function end(office: Office, id: string, by: Actor, because: string | undefined): Promise<boolean> {
  let ended = false
  office.ending.add(id)
  try {
    let first = false
    await keep<Agent>(office, { kind: "agent", id }, by, (there) => {
      first = there?.status === "active"
      if (!first) return undefined
      return { body: { ...there!, status: "terminated", ended: { by: by.id, at: office.now(), because } }, live: false }
    })
    ended = first
  } finally {
    if (!ended) office.ending.delete(id)
  }
  return ended
}

/** The stored agents below that still live, from the top down. One of the configuration stays, and has nothing. */
function liveBelow({ roster }: Office, top: string): Sourced<Agent>[] {
  const children = new Map<string, Sourced<Agent>[]>()
  for (const agent of roster.agents()) {
    const siblings = children.get(agent.parentId ?? "")
    if (siblings === undefined) children.set(agent.parentId ?? "", [agent])
    else siblings.push(agent)
  }
  const found: Sourced<Agent>[] = []
  const seen = new Set([top])
  for (const id of seen) {
    for (const child of children.get(id) ?? []) {
      if (seen.has(child.id)) continue
      seen.add(child.id)
      found.push(child)
    }
  }
  return found.filter(({ status, source }) => status === "active" && source === sources.store)
}

function refuseUnending(agent: Sourced<Agent>, by: Actor): void {
  if (by.kind === "agent" && agent.parentId !== by.id) {
    throw new OrganisationError("not_child_agent", `You did not spawn agent '${agent.id}', so you cannot terminate it.`)
  }
  if (agent.source === sources.builtIn) {
    throw new OrganisationError("cannot_terminate_system_agent", `Agent '${agent.id}' is built in and never ends.`)
  }
  refuseConfigured(agent, `Agent '${agent.id}'`, "org.agents")
}

function refuseUnknown(id: string): never {
  const sentence = `There is no agent '${id}', or it has ended. List the agents to see who there is.`
  throw new OrganisationError("agent_not_found", sentence)
}
