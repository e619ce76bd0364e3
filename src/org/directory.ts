import type { Agent, AgentView, Role } from "../model/organisation.ts"
import type { Organisation } from "../model/ports.ts"

/** What the configuration says about the organisation. */
export interface OrganisationConfig {
  roles?: readonly RoleConfig[] | undefined
  agents?: readonly AgentConfig[] | undefined
  departments?: readonly { id: string; name?: string | undefined }[] | undefined
  defaultToolGroups?: readonly string[] | undefined
}

export interface RoleConfig {
  id?: string | undefined
  name: string
  rolePrompt?: string | undefined
  toolGroups?: readonly string[] | null | undefined
  department?: string | undefined
  level?: number | undefined
  pins?: Readonly<Record<string, string>> | undefined
}

export interface AgentConfig {
  id: string
  role: string
  department?: string | undefined
  level?: number | undefined
  parent?: string | undefined
  pins?: Readonly<Record<string, string>> | undefined
}

/** The groups of root, in the list and in the call: it organises and does no work of its own. */
export const rootGroups: readonly string[] = ["org_management"]

/** Who there is: root and operator always, and whoever the configuration names. */
export class Directory implements Organisation {
  readonly version = 1
  readonly #roles = new Map<string, Role>()
  readonly #views = new Map<string, AgentView>()

  constructor({ roles = [], agents = [], departments = [], defaultToolGroups }: OrganisationConfig = {}) {
    const usual = defaultToolGroups ?? null
    this.#addRole({ id: "root", name: "root", toolGroups: rootGroups }, usual)
    this.#addRole({ id: "operator", name: "operator", toolGroups: null }, null)
    for (const role of roles) this.#addRole(role, usual)
    this.#addAgent({ id: "root", role: "root" })
    this.#addAgent({ id: "operator", role: "operator" })
    for (const agent of agents) this.#addAgent(agent)
    this.#refuseUnknownDepartments(roles, agents, departments)
  }

  view(agentId: string): AgentView | undefined {
    return this.#views.get(agentId)
  }

  role(idOrName: string): Role | undefined {
    return this.#roles.get(idOrName) ?? [...this.#roles.values()].find((role) => role.name === idOrName)
  }

  listRoles(): Role[] {
    return [...this.#roles.values()]
  }

  listAgents(): Agent[] {
    return [...this.#views.values()].map((view) => view.agent)
  }

  #addRole(given: RoleConfig, usual: readonly string[] | null): void {
    const id = given.id ?? given.name
    const taken = [id, given.name].find((word) => this.role(word) !== undefined)
    if (taken !== undefined) {
      throw new Error(`There are two roles '${taken}'. Give each its own name; 'root' and 'operator' exist always.`)
    }
    const groups = given.toolGroups ?? []
    this.#roles.set(id, {
      id,
      name: given.name,
      rolePrompt: given.rolePrompt ?? "",
      createdBy: "configuration",
      createdAt: new Date(0).toISOString(),
      status: "active",
      llmServiceId: null,
      toolGroups: groups.length === 0 ? usual : [...groups],
      department: given.department,
      level: given.level,
      pins: given.pins,
    })
  }

  #addAgent(given: AgentConfig): void {
    const role = this.role(given.role)
    if (role === undefined)
      throw new Error(`Agent '${given.id}' has the role '${given.role}', which does not exist. Define it in org.roles.`)
    if (this.#views.has(given.id))
      throw new Error(`There are two agents '${given.id}'. Give each its own id; 'root' and 'operator' exist always.`)
    const department = given.department ?? role.department
    const level = given.level ?? role.level ?? 0
    const { id, parent: parentId, pins } = given
    this.#views.set(id, {
      agent: { id, roleId: role.id, department, level, parentId, status: "active", pins },
      role,
      department,
      level,
      groups: id === "root" ? rootGroups : role.toolGroups,
      pins: { ...role.pins, ...pins },
    })
  }

  #refuseUnknownDepartments(
    roles: readonly RoleConfig[],
    agents: readonly AgentConfig[],
    departments: readonly { id: string }[],
  ): void {
    if (departments.length === 0) return
    for (const { department } of [...roles, ...agents]) {
      if (department === undefined || departments.some(({ id }) => id === department)) continue
      throw new Error(`Department '${department}' does not exist. Add it to org.departments.`)
    }
  }
}
