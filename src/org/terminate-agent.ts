import type { Agent } from "../core/organisation.ts"
import { OrganisationError, type ChangedBy, type Sourced } from "./organisation-admin.ts"
import { actingAgent, refuseConfigured } from "./validation.ts"
import { sources } from "./configured-organisation.ts"
import { writeDocument, type OrganisationContext } from "./write-document.ts"

/**
 * Terminates an agent and all agents below it. Their documents stay in the store. As soon as the first one has ended, the
 * agents below it can do nothing, because their parent has no view. An agent may terminate only its own children.
 */
export async function terminateAgent(
  context: OrganisationContext,
  id: string,
  by: ChangedBy,
  reason?: string,
): Promise<string[]> {
  await context.documents.refresh()
  actingAgent(context, by)
  const agent = context.roster.agent(id)
  if (agent?.status !== "active") refuseUnknown(id)
  refuseProtected(agent, by)
  if (!(await end(context, id, by, reason === "" ? undefined : reason))) refuseUnknown(id)
  const ended = [id]
  try {
    // An agent created from now on finds its ancestor terminated, so this list is complete.
    for (const { id: child, parentId } of liveBelow(context, id)) {
      if (await end(context, child, by, `Agent '${parentId}' above it was terminated.`)) ended.push(child)
    }
  } finally {
    for (const agent of ended) context.emit({ type: "AGENT_CHANGED", at: context.now(), agent, change: "terminated" })
    await context.onTerminated(ended)
    for (const agent of ended) context.terminating.delete(agent)
  }
  return ended
}

/** False when another caller terminated the agent first. */
async function end(
  context: OrganisationContext,
  id: string,
  by: ChangedBy,
  because: string | undefined,
): Promise<boolean> {
  let ended = false
  context.terminating.add(id)
  try {
    let first = false
    await writeDocument<Agent>(context, { kind: "agent", id }, by, (existing) => {
      first = existing?.status === "active"
      if (!first) return undefined
      return {
        body: { ...existing!, status: "terminated", ended: { by: by.id, at: context.now(), because } },
        live: false,
      }
    })
    ended = first
  } finally {
    if (!ended) context.terminating.delete(id)
  }
  return ended
}

/** The live stored agents below `top`, top down. Configured agents stay active but have no view. */
function liveBelow({ roster }: OrganisationContext, top: string): Sourced<Agent>[] {
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

function refuseProtected(agent: Sourced<Agent>, by: ChangedBy): void {
  if (by.kind === "agent" && agent.parentId !== by.id) {
    throw new OrganisationError("not_child_agent", `You did not spawn agent '${agent.id}', so you cannot terminate it.`)
  }
  if (agent.source === sources.builtIn) {
    throw new OrganisationError(
      "cannot_terminate_system_agent",
      `Agent '${agent.id}' is built in and cannot be terminated.`,
    )
  }
  refuseConfigured(agent, `Agent '${agent.id}'`, "org.agents")
}

function refuseUnknown(id: string): never {
  const sentence = `There is no agent '${id}', or it has ended. List the agents to see which there are.`
  throw new OrganisationError("agent_not_found", sentence)
}
