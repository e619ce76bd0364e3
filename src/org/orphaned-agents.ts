import type { Agent } from "../core/organisation.ts"

type Known = Pick<Agent, "id" | "parentId" | "status"> & { readonly source: string }

/** Warnings about configured agents that may use no tool because an agent above them is missing or terminated. */
export function describeOrphanedAgents(agents: readonly Known[]): string[] {
  const byId = new Map(agents.map((agent) => [agent.id, agent]))
  return agents
    .filter(({ source, status }) => source === "configuration" && status === "active")
    .flatMap((agent) => {
      const why = orphanedBecause(agent, byId)
      return why === undefined ? [] : [`Agent '${agent.id}' may use no tool: ${why}. Correct its parent in org.agents.`]
    })
}

function orphanedBecause(agent: Known, byId: ReadonlyMap<string, Known>): string | undefined {
  const above = [agent.id]
  for (let current = agent; current.id !== "root" && current.parentId !== undefined && current.parentId !== "root";) {
    const whose = current === agent ? "its parent" : `the parent of '${current.id}' above it,`
    const parent = byId.get(current.parentId)
    if (parent === undefined) return `${whose} '${current.parentId}' does not exist`
    if (parent.status !== "active") return `${whose} '${parent.id}' was terminated`
    if (above.includes(parent.id)) return `its chain of parents is a circle (${[...above, parent.id].join(" ← ")})`
    above.push(parent.id)
    current = parent
  }
  return undefined
}
