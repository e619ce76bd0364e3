import { isInFolder } from "../lib/is-in-folder.ts"
import { workspaceFolder } from "./agent-folder.ts"
import type { Scope, Agent, Department, Person, Role } from "../core/organisation.ts"
import type { NewRole, Sourced } from "./organisation-admin.ts"

/** The organisation as the configuration describes it. */
export interface OrganisationConfig {
  roles?: readonly RoleConfig[]
  agents?: readonly AgentConfig[]
  departments?: readonly { id: string; name?: string }[]
  people?: readonly PersonConfig[]
  /** The groups of a role that names none; all when left out. */
  defaultToolGroups?: readonly string[]
}

export interface RoleConfig extends NewRole {
  id?: string
}

export interface AgentConfig {
  id: string
  role: string
  department?: string
  level?: number
  parent?: string
  folder?: string
  pins?: Readonly<Record<string, string>>
}

export interface PersonConfig {
  scopes?: readonly Scope[]
  id: string
  name?: string
  roles?: readonly string[]
  tokenHash?: string
  tokenExpiresAt?: string
}

/** The configured organisation, with root and operator. It exists independently of the store. */
export interface ConfiguredOrganisation {
  readonly roles: ReadonlyMap<string, Sourced<Role>>
  /** Every role by its id and by its name. No stored role can use one of these. */
  readonly rolesByIdOrName: ReadonlyMap<string, Sourced<Role>>
  readonly agents: ReadonlyMap<string, Sourced<Agent>>
  readonly departments: ReadonlyMap<string, Sourced<Department>>
  readonly people: ReadonlyMap<string, Sourced<Person>>
}

/** The groups of root: it organises and does no other work. */
export const rootGroups: readonly string[] = ["org_management"]

/** The values of `source`. */
export const sources = { builtIn: "built in", configuration: "configuration", store: "store" } as const

/** Reads the configuration and adds root and operator. Throws a sentence that names the mistake. */
export function readConfiguredOrganisation(config: OrganisationConfig = {}): ConfiguredOrganisation {
  const { roles = [], agents = [], departments = [], people = [] } = config
  const configured = {
    roles: new Map<string, Sourced<Role>>(),
    rolesByIdOrName: new Map<string, Sourced<Role>>(),
    agents: new Map<string, Sourced<Agent>>(),
    departments: new Map<string, Sourced<Department>>(),
    people: new Map<string, Sourced<Person>>(),
  }
  for (const id of ["root", "operator"]) {
    addRole(configured, { id, name: id, toolGroups: id === "root" ? rootGroups : null }, sources.builtIn)
    addAgent(configured, { id, role: id }, sources.builtIn)
  }
  for (const role of roles) addRole(configured, role, sources.configuration)
  for (const agent of agents) addAgent(configured, agent, sources.configuration)
  refuseFoldersOutside(configured.agents)
  for (const { id, name = id } of departments) {
    configured.departments.set(id, { ...origin(sources.configuration), id, name, status: "active" })
  }
  for (const person of people) addPerson(configured, person)
  refuseUnknownDepartments([...roles, ...agents], configured.departments)
  return configured
}

interface MutableOrganisation {
  roles: Map<string, Sourced<Role>>
  rolesByIdOrName: Map<string, Sourced<Role>>
  agents: Map<string, Sourced<Agent>>
  people: Map<string, Sourced<Person>>
}

function origin(source: string) {
  return { source, createdBy: "configuration", madeBy: "configuration", createdAt: new Date(0).toISOString() } as const
}

function addRole({ roles, rolesByIdOrName }: MutableOrganisation, given: RoleConfig, source: string): void {
  const { id = given.name, name, department, level, dialect, pins } = given
  const taken = [id, name].find((word) => rolesByIdOrName.has(word))
  if (taken !== undefined) {
    throw new Error(`There are two roles '${taken}'. Give each its own name; 'root' and 'operator' exist always.`)
  }
  const role: Sourced<Role> = {
    ...origin(source),
    id,
    name,
    rolePrompt: given.rolePrompt ?? "",
    status: "active",
    llmServiceId: given.llmServiceId ?? null,
    toolGroups: given.toolGroups ? [...given.toolGroups] : null,
    department,
    level,
    dialect,
    pins,
  }
  roles.set(id, role)
  rolesByIdOrName.set(id, role).set(name, role)
}

function addAgent({ agents, rolesByIdOrName }: MutableOrganisation, given: AgentConfig, source: string): void {
  const { id, department, level, parent: parentId, pins } = given
  const role = rolesByIdOrName.get(given.role)
  if (role === undefined)
    throw new Error(`Agent '${id}' has the role '${given.role}', which does not exist. Define it in org.roles.`)
  if (agents.has(id))
    throw new Error(`There are two agents '${id}'. Give each its own id; 'root' and 'operator' exist always.`)
  const folder = given.folder === undefined ? undefined : workspaceFolder(given.folder)
  if (folder === undefined && given.folder !== undefined)
    throw new Error(
      `Agent '${id}' has the folder '${given.folder}', which is none of the workspace. Write it relative to the workspace, for example docs/guide.`,
    )
  agents.set(id, {
    ...origin(source),
    id,
    roleId: role.id,
    department,
    level,
    parentId,
    folder,
    status: "active",
    pins,
  })
}

/** The folder of an agent must lie inside that of the nearest agent above it that has one. */
function refuseFoldersOutside(agents: ReadonlyMap<string, Agent>): void {
  for (const { id, folder, parentId } of agents.values()) {
    const seen = new Set<string | undefined>()
    let above = agents.get(parentId ?? "")
    for (
      ;
      above !== undefined && above.folder === undefined && !seen.has(above.id);
      above = agents.get(above.parentId ?? "")
    )
      seen.add(above.id)
    if (folder === undefined || above?.folder === undefined || isInFolder(folder, above.folder)) continue
    throw new Error(
      `Agent '${id}' has the folder '${folder}', which is not inside '${above.folder}', the folder of agent '${above.id}' above it. Choose one inside it.`,
    )
  }
}

function addPerson({ people }: MutableOrganisation, given: PersonConfig): void {
  const { id, name = id, roles = [], scopes, tokenHash, tokenExpiresAt } = given
  if (people.has(id)) throw new Error(`There are two people '${id}' in org.people. Give each an id of their own.`)
  const expires = tokenExpiresAt === undefined ? {} : { tokenExpiresAt: Date.parse(tokenExpiresAt) }
  people.set(id, { ...origin(sources.configuration), id, name, roles, scopes, status: "active", tokenHash, ...expires })
}

function refuseUnknownDepartments(
  given: readonly { department?: string }[],
  departments: ReadonlyMap<string, unknown>,
): void {
  if (departments.size === 0) return
  for (const { department } of given) {
    if (department === undefined || departments.has(department)) continue
    throw new Error(`Department '${department}' does not exist. Add it to org.departments.`)
  }
}
