import type { AgentView, Agent } from "../core/organisation.ts"

export interface Organisation {
  /** Undefined when the agent does not exist, was terminated or has an unknown role: it may use no tool. */
  view(agentId: string): AgentView | undefined
  listAgents(): readonly { readonly id: string }[]
  /** Also one that was terminated. */
  findAgent(id: string): Pick<Agent, "parentId"> | undefined
  /** Grows with every change. */
  readonly version: number
}
