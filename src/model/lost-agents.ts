import type { Agent } from "./organisation.ts"

type Known = Pick<Agent, "id" | "parentId" | "status"> & { readonly source: string }

/** Sentences about the configured agents that have nothing because of who stands above them. */
export function lostAgents(agents: readonly Known[]): string[] {
  const byId = new Map(agents.map((agent) => [agent.id, agent]))
  return agents
    .filter(({ source, status }) => source === "configuration" && status === "active")
    .flatMap((agent) => {
      const why = lostBecause(agent, byId)
      return why === undefined ? [] : [`Agent '${agent.id}' has nothing: ${why}. Correct its parent in org.agents.`]
    })
}

function lostBecause(agent: Known, byId: ReadonlyMap<string, Known>): string | undefined {
  const above = [agent.id]
  for (let here = agent; here.id !== "root" && here.parentId !== undefined && here.parentId !== "root";) {
    const whose = here === agent ? "its parent" : `the parent of '${here.id}' above it,`
    const parent = byId.get(here.parentId)
    if (parent === undefined) return `${whose} '${here.parentId}' does not exist`
    if (parent.status !== "active") return `${whose} '${parent.id}' has ended`
    if (above.includes(parent.id))
      return `whoever stands above it comes round again (${[...above, parent.id].join(" ← ")})`
    above.push(parent.id)
    here = parent
  }
  return undefined
}
