import { nearestName } from "../lib/nearest-name.ts"
import type { Path } from "./schema-path.ts"
import type { Config } from "./schema.ts"

/** Everything a configuration may name. */
export interface KnownNames {
  hasTool(name: string): boolean
  tools: readonly string[]
  groups: readonly string[]
  roles: readonly { id: string; name: string }[]
  departments: readonly string[]
  agents: readonly string[]
}

export interface UnknownName {
  path: Path
  kind: "tool" | "group" | "role" | "department" | "agent"
  name: string
  sentence: string
}

/** The names in a configuration that nothing has, except those in rules, which `rules.flaws` finds. */
export function unknownNames(config: Config, known: KnownNames): UnknownName[] {
  const { tools = {}, org = {}, experiments = {} } = config
  const roles = known.roles.flatMap(({ id, name }) => [id, name])
  const lowerRoles = new Set(roles.map((name) => name.toLowerCase()))
  const found: UnknownName[] = []
  const look = (
    kind: UnknownName["kind"],
    name: string | undefined,
    path: Path,
    all: readonly string[],
    isKnown = all.includes.bind(all),
  ) => {
    if (name !== undefined && !isKnown(name)) found.push({ path, kind, name, sentence: sentenceFor(kind, name, all) })
  }
  const tool = (name: string, path: Path) => look("tool", name, path, known.tools, known.hasTool)
  const role = (name: string, path: Path) => look("role", name, path, roles, (one) => lowerRoles.has(one.toLowerCase()))
  const group = (name: string, path: Path) => look("group", name, path, known.groups)
  const agent = (name: string | undefined, path: Path) => look("agent", name, path, known.agents)
  /** Where no department is declared, any word is one. */
  const department = (name: string | undefined, path: Path) => {
    if (known.departments.length > 0) look("department", name, path, known.departments)
  }

  agent(config.agent, ["agent"])
  tools.enabled?.forEach((name, index) => tool(name, ["tools", "enabled", index]))
  for (const [name, { allowedRoles = [], allowedDepartments = [] }] of Object.entries(tools.permissions ?? {})) {
    const path = ["tools", "permissions", name]
    tool(name, path)
    allowedRoles.forEach((one, index) => role(one, [...path, "allowedRoles", index]))
    allowedDepartments.forEach((one, index) => department(one, [...path, "allowedDepartments", index]))
  }
  for (const [name, { roles: named = [] }] of Object.entries(config.databases ?? {}))
    named.forEach((one, index) => role(one, ["databases", name, "roles", index]))
  for (const [name, { tool: tried }] of Object.entries(experiments)) tool(tried, ["experiments", name, "tool"])
  org.roles?.forEach((one, index) => {
    one.toolGroups?.forEach((id, at) => group(id, ["org", "roles", index, "toolGroups", at]))
    department(one.department, ["org", "roles", index, "department"])
  })
  org.defaultToolGroups?.forEach((id, index) => group(id, ["org", "defaultToolGroups", index]))
  org.agents?.forEach((one, index) => {
    agent(one.parent, ["org", "agents", index, "parent"])
    department(one.department, ["org", "agents", index, "department"])
  })
  return found
}

/** The roles that configured agents name and the configuration does not have. With one of these nothing can be opened. */
export function unknownRoles({ roles = [], agents = [] }: NonNullable<Config["org"]>): UnknownName[] {
  const known = ["root", "operator", ...roles.flatMap(({ id, name }) => (id === undefined ? [name] : [id, name]))]
  return agents.flatMap(({ id, role }, index) => {
    if (known.includes(role)) return []
    const guess = nearestName(role, known)
    const help = guess === undefined ? "Define it in org.roles." : `Did you mean '${guess}'?`
    const sentence = `Agent '${id}' has the role '${role}', which does not exist. ${help}`
    return [{ path: ["org", "agents", index, "role"], kind: "role", name: role, sentence }]
  })
}

function sentenceFor(kind: string, name: string, known: readonly string[]): string {
  const guess = nearestName(name, known)
  return `There is no ${kind} '${name}'. ${guess === undefined ? "Correct the name, or remove it." : `Did you mean '${guess}'?`}`
}
