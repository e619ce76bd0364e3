import type { Agent, AgentView, Freeze, Role } from "../model/organisation.ts"
import type { LevelOrder } from "../model/permission.ts"
import { bothGroups, leastLevel, weakerLevel } from "./ceilings.ts"
import { everyone } from "./freezer.ts"
import type { Roster } from "./roster.ts"

/** What each agent is and may, held down by its spawners. Looked up once, until something changes. */
export class Views {
  readonly #roster: Roster
  readonly #levelOrder: LevelOrder
  readonly #defaultToolGroups: readonly string[] | null
  readonly #known = new Map<string, AgentView>()
  /** The agents being looked up: whoever is its own ancestor has nothing. */
  readonly #asked = new Set<string>()

  constructor(roster: Roster, levelOrder: LevelOrder, defaultToolGroups: readonly string[] | null) {
    this.#roster = roster
    this.#levelOrder = levelOrder
    this.#defaultToolGroups = defaultToolGroups
  }

  /** Undefined for an agent that does not exist, ended, or has no live role, and for one whose spawner has nothing. */
  view(agentId: string): AgentView | undefined {
    return this.#known.get(agentId) ?? this.#look(agentId)
  }

  /** Something changed. */
  forget(): void {
    this.#known.clear()
  }

  #look(id: string): AgentView | undefined {
    const agent = this.#roster.agent(id)
    if (agent?.status !== "active" || this.#asked.has(id)) return undefined
    const role = this.#roster.role(agent.roleId)
    if (role === undefined) return undefined
    this.#asked.add(id)
    const parent = this.#parentOf(agent)
    this.#asked.delete(id)
    if (parent === null) return undefined
    const view = this.#put(agent, role, parent)
    this.#known.set(id, view)
    return view
  }

  /** Undefined when nobody above sets a ceiling, null when whoever stands above has nothing. */
  #parentOf({ id, parentId }: Agent): AgentView | undefined | null {
    if (id === "root" || parentId === undefined || parentId === "root") return undefined
    return this.view(parentId) ?? null
  }

  #put(agent: Agent, role: Role, parent: AgentView | undefined): AgentView {
    const own = agent.level ?? role.level ?? leastLevel(this.#levelOrder)
    return {
      agent,
      role,
      department: departmentOf(agent, role, parent),
      level: parent === undefined ? own : weakerLevel(own, parent.level, this.#levelOrder),
      groups: bothGroups(this.#groupsOf(role), parent?.groups ?? null),
      pins: {
        ...parent?.pins,
        ...(role.madeBy === "agent" ? {} : role.pins),
        ...(agent.madeBy === "agent" ? {} : agent.pins),
      },
      spawners: parent === undefined ? [] : [parent, ...parent.spawners],
      frozen: this.#freezeOf(agent, parent),
    }
  }

  /** The default is for roles that somebody wrote; operator is there to hold all groups. */
  #groupsOf(role: Role): readonly string[] | null {
    return role.toolGroups ?? (role.id === "operator" ? null : this.#defaultToolGroups)
  }

  #freezeOf({ id, parentId }: Agent, parent: AgentView | undefined): Freeze | undefined {
    const above = parentId === "root" ? this.#roster.freeze("root") : parent?.frozen
    return this.#roster.freeze(id) ?? above ?? this.#roster.freeze(everyone)
  }
}

/** A spawner's department is its children's. An agent that another one made has no other way to get one. */
function departmentOf(agent: Agent, role: Role, parent: AgentView | undefined): string | undefined {
  const own = agent.department ?? role.department
  if (parent === undefined) return own
  return parent.department ?? (agent.madeBy === "agent" ? undefined : own)
}
