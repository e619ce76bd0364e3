import type { AgentView, SessionMode } from "../model/organisation.ts"
import type { Reason } from "../model/record.ts"
import type { Grant, Rule } from "../model/rule.ts"
import type { RegisteredTool } from "../model/tool.ts"
import type { Groups } from "./visible.ts"

/* What a person could do to get another verdict, one sentence for each voice. */

export function create(agentId: string): string {
  return `Create the agent: qm agents create --id ${agentId} --role <role>`
}

export function thaw({ agent }: AgentView): string {
  return `Thaw it: qm thaw --agent ${agent.id}, or qm thaw when everyone is frozen`
}

export function switchOn({ name }: RegisteredTool): string {
  return `Add ${name} to tools.enabled in the configuration`
}

export function trustPin({ group }: RegisteredTool): string {
  return `Look at it and agree: qm mcp pins diff ${group}, then qm mcp pins trust ${group}`
}

/** Nothing to do about the role when it has the group and an agent above has not. */
export function giveGroup(tool: RegisteredTool, { role, agent }: AgentView, groups: Groups): string | undefined {
  if (agent.id === "root") return "Call it as another agent: root organises and has nothing else"
  if (groups.inGroups(tool, role.toolGroups)) return undefined
  const all = [...(role.toolGroups ?? []), tool.group].join(",")
  return role.madeBy === "configuration"
    ? `Add '${tool.group}' to the toolGroups of role ${role.name} in the configuration`
    : `Give role ${role.name} the group '${tool.group}': qm roles update ${role.name} --groups ${all}`
}

export function allowRole({ name, permission }: RegisteredTool, { role }: AgentView): string {
  const others = permission.allowedRoles.join(", ")
  if (role.madeBy === "agent") return `Give the agent a role that a person made, one of: ${others}`
  return `Add ${role.name} to tools.permissions.${name}.allowedRoles, or give the agent one of the roles: ${others}`
}

export function allowDepartment({ name, permission }: RegisteredTool, { department }: AgentView): string {
  const others = permission.allowedDepartments.join(", ")
  const add = department === undefined ? "" : `Add ${department} to tools.permissions.${name}.allowedDepartments, or `
  const move = `move the agent to one of the departments: ${others}`
  return add === "" ? `M${move.slice(1)}` : add + move
}

export function giveLevel({ name, permission }: RegisteredTool, { agent }: AgentView): string {
  return `Give agent ${agent.id} the level ${permission.minLevel}, or change tools.permissions.${name}.minLevel`
}

export function rule({ source }: Rule): string {
  return `Change or remove the rule at ${source}`
}

export function raise({ source }: Reason): string {
  return `Change first what ${source} may use`
}

/** What nobody has registered is brought by a plugin or a server; what is there, by the agent's rights to it. */
export function provide(lacks: readonly string[]): string {
  return lacks.length > 0
    ? `Load the plugin, module or server that has ${lacks.join(", ")}`
    : "Give the agent first what the tool needs"
}

export function wait(milliseconds: number): string {
  return `Wait ${Math.ceil(milliseconds / 1000)} s`
}

export function mode(now: SessionMode): string {
  return `Leave the mode ${now}: set the session's mode to ask`
}

export function grant({ id, verdict }: Grant): string {
  return `Forget the remembered ${verdict === "allow" ? "yes" : "no"}: qm grants revoke ${id}`
}

/** What a line of the configuration says can be changed there; what is sealed cannot. */
export function guard({ source }: Reason): string | undefined {
  return source.startsWith("tools.") ? `Change ${source} in the configuration` : undefined
}

/** A guard's doubt is lifted by nobody but a person, each time. */
export function ask({ voice, source }: Reason): string | undefined {
  return voice === "wish" ? `Leave out ${source.replace("input /", "")}` : undefined
}

export function allowRule({ name }: RegisteredTool): string {
  return `Add an allow rule for ${name}`
}

export function tighten({ name }: RegisteredTool): string {
  return `Add a rule that asks about ${name} or denies it`
}

/** What a person at the desk can do about a call that asks. */
export function approve({ permission }: RegisteredTool, isBinding: boolean): string {
  if (permission.level === "sensitive") return "A person can approve it, each time anew"
  return isBinding ? "A person can approve it, this once" : "A person can approve it and remember it for the session"
}

/** What a person can do about a call that is a question. */
export function answer(): string {
  return "A person can answer it, each time anew"
}
