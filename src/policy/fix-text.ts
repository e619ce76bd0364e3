import { shellWord } from "../lib/shell-word.ts"
import type { Explanation } from "./explanation.ts"
import type { Agent, Role } from "../core/organisation.ts"
import type { DecisionInput } from "./rules/decision-input.ts"
import { patternsFor } from "../schema/rule-for-touches.ts"

/* The commands and lines of YAML that `qm why` prints under "To change this:". Names may be an agent's own, so they are quoted. */

/** A value as YAML takes it in one line. */
function yamlValue(value: YamlValue): string {
  if (Array.isArray(value)) return `[${value.map((one: string) => yamlValue(one)).join(", ")}]`
  if (typeof value === "number") return String(value)
  const text = value as string
  const isPlain = /^[a-z_][\w/-]*$/i.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text)
  return isPlain ? text : JSON.stringify(text)
}

type YamlValue = string | number | readonly string[]

export function listed(names: readonly string[]): string {
  return names.map((name) => yamlValue(name)).join(", ")
}

export function permissionLine(tool: string, key: string, value: YamlValue): string {
  return `tools.permissions.${yamlValue(tool)}.${key}: ${yamlValue(value)}`
}

/** A role of the configuration is changed there, every other one with `qm roles update`. */
export function roleFix(
  role: Role,
  change: { groups: readonly string[] } | { department: string } | { level: number },
): string {
  const [[flag, value] = ["", ""]] = Object.entries(change) as [string, YamlValue][]
  if (role.madeBy !== "configuration") {
    const word = Array.isArray(value) ? value.join(",") : String(value)
    return `qm roles update ${shellWord(role.name)} --${flag} ${shellWord(word)}`
  }
  const key = flag === "groups" ? "toolGroups" : flag
  return `In org.roles, for role ${yamlValue(role.name)}: ${key}: ${yamlValue(value)}`
}

export function agentLine(agent: Agent, { level }: { level: number }): string {
  return `In org.agents, for agent ${yamlValue(agent.id)}: level: ${level}`
}

/** A stored rule is removed by its id; one of the configuration is changed where it is written. */
export function ruleFix(source: string): string | undefined {
  const stored = /^rule (.+)$/.exec(source)?.[1]
  if (stored !== undefined) return `qm rules remove ${shellWord(stored)}`
  return source === "built in" ? undefined : `Change or remove the rule at ${source}`
}

export function askRuleFix(tool: string): string {
  return addRule({ ask: tool })
}

/** The narrowest rule for calls like this one, as the approval card offers it. Undefined where no pattern is certain. */
export function allowRuleFor(call: DecisionInput): Explanation["rule"] {
  const { tool, who, touches, workspace, commandStem } = call
  const rule = { allow: tool.name, agent: who.agent.id }
  if (touches.list.length === 0) return rule
  const touching = patternsFor(touches, workspace, (line) => commandStem?.(line))
  return touching && { ...rule, touching }
}

export function allowRuleFix(call: DecisionInput): string | undefined {
  const rule = allowRuleFor(call)
  return rule && addRule(rule)
}

function addRule(rule: object): string {
  return `qm rules add ${shellWord(JSON.stringify({ ...rule, because: "<why>" }))}`
}

export function modeFix(agentId: string, sessionId?: string): string {
  const session = sessionId === undefined ? "" : ` --session ${shellWord(sessionId)}`
  return `qm mode ask --agent ${shellWord(agentId)}${session}`
}

export function grantFix(id: string): string {
  return `qm grants revoke ${shellWord(id)}`
}

/** A line of the configuration can be changed; a path that is always protected cannot. */
export function guardFix(source: string): string | undefined {
  return source.startsWith("tools.") ? `Change ${source} in the configuration` : undefined
}

/** For what is decided elsewhere: the command that says what. */
export function whyFix(tool: string, agentId: string): string {
  return `See first: qm why ${shellWord(tool)} --agent ${shellWord(agentId)}`
}
