import type { Agent, AgentView, Freeze, Role } from "../core/organisation.ts"
import type { LevelOrder } from "../core/permission.ts"
import { intersectGroups, lowestLevel, weakerLevel } from "./inherited-limits.ts"
import { everyAgent } from "./freezes.ts"
import type { Roster } from "./roster.ts"

/** The parts that a view is made of. */
type ViewedRoster = {
  agent(id: string): Agent | undefined
  role(id: string): Role | undefined
} & Pick<Roster, "freeze">

/** The views of the agents with their rights, limited by their ancestors. Cached until the organisation changes. */
export class AgentViews {
  readonly #roster: ViewedRoster
  readonly #levelOrder: LevelOrder
  readonly #defaultToolGroups: readonly string[] | null
  readonly #cached = new Map<string, AgentView>()
  /** The agents being computed. An agent that is its own ancestor gets no view. */
  readonly #computing = new Set<string>()

  constructor(roster: ViewedRoster, levelOrder: LevelOrder, defaultToolGroups: readonly string[] | null) {
    this.#roster = roster
    this.#levelOrder = levelOrder
    this.#defaultToolGroups = defaultToolGroups
  }

  /** Undefined for an agent that does not exist, ended or has no live role, and for one whose parent has no view. */
  view(agentId: string): AgentView | undefined {
    return this.#cached.get(agentId) ?? this.#compute(agentId)
  }

  /** Call it when the organisation changed. */
  clear(): void {
    this.#cached.clear()
  }

  #compute(id: string): AgentView | undefined {
    const agent = this.#roster.agent(id)
    if (agent?.status !== "active" || this.#computing.has(id)) return undefined
    const role = this.#roster.role(agent.roleId)
    if (role === undefined) return undefined
    this.#computing.add(id)
    const parent = this.#parentOf(agent)
    this.#computing.delete(id)
    if (parent === null) return undefined
    const view = this.#viewOf(agent, role, parent)
    this.#cached.set(id, view)
    return view
  }

  /** Undefined when no parent limits the agent, null when the parent has no view. */
  #parentOf({ id, parentId }: Agent): AgentView | undefined | null {
    if (id === "root" || parentId === undefined || parentId === "root") return undefined
    return this.view(parentId) ?? null
  }

  #viewOf(agent: Agent, role: Role, parent: AgentView | undefined): AgentView {
    const own = agent.level ?? role.level ?? lowestLevel(this.#levelOrder)
    return {
      agent,
      role,
      department: departmentOf(agent, role, parent),
      level: parent === undefined ? own : weakerLevel(own, parent.level, this.#levelOrder),
      groups: intersectGroups(this.#groupsOf(role), parent?.groups ?? null),
      pins: {
        ...parent?.pins,
        ...(role.madeBy === "agent" ? {} : role.pins),
        ...(agent.madeBy === "agent" ? {} : agent.pins),
      },
      folder: agent.folder ?? parent?.folder,
      ancestors: parent === undefined ? [] : [parent, ...parent.ancestors],
      frozen: this.#freezeOf(agent, parent),
    }
  }

  /** A role that names no groups gets the default ones, except operator, which always has all groups. */
  #groupsOf(role: Role): readonly string[] | null {
    return role.toolGroups ?? (role.id === "operator" ? null : this.#defaultToolGroups)
  }

  #freezeOf({ id, parentId }: Agent, parent: AgentView | undefined): Freeze | undefined {
    const above = parentId === "root" ? this.#roster.freeze("root") : parent?.frozen
    return this.#roster.freeze(id) ?? above ?? this.#roster.freeze(everyAgent)
  }
}

/** Children are in their parent's department. An agent created by an agent gets a department only that way. */
function departmentOf(agent: Agent, role: Role, parent: AgentView | undefined): string | undefined {
  const own = agent.department ?? role.department
  if (parent === undefined) return own
  return parent.department ?? (agent.madeBy === "agent" ? undefined : own)
}
