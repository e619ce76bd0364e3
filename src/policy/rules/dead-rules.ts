import { nearestName } from "../../lib/nearest-name.ts"
import { mcpName } from "../../core/mcp.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import type { RuleContext, RuleWithTools } from "./flaws.ts"

/** Finds the names in a rule that do not exist, and its conditions that can never match. */
export function deadSentences(placed: RuleWithTools, known: RuleContext): string[] {
  const { role = [], department = [], agent = [] } = placed.rule
  const tool = deadTool(placed, known)
  return [
    ...(tool === undefined ? [] : [tool]),
    ...role.flatMap((name) => deadRole(name, known) ?? []),
    ...department.flatMap((name) => deadDepartment(name, known) ?? []),
    ...agent.flatMap((id) => missing("agent", id, known.agents()) ?? []),
    ...(tool === undefined ? deadConditions(placed) : []),
  ]
}

function deadTool({ rule, tool: pattern, tools }: RuleWithTools, known: RuleContext): string | undefined {
  if (tools.size > 0) return undefined
  const names = known.tools().map(({ name }) => name)
  if ("name" in pattern && !names.includes(pattern.name))
    return missing("tool", pattern.name, names, howServersToolsAreWritten(pattern.name))
  if ("group" in pattern && !known.groups().includes(pattern.group))
    return missing("group", pattern.group, known.groups())
  if ("glob" in pattern && !names.some((name) => pattern.glob.matches(name)))
    return `No tool has a name that fits '${rule.tool}'.${howServersToolsAreWritten(rule.tool)}`
  return rule.effect === undefined
    ? `No tool is in '${rule.tool}'.`
    : `None of the tools '${rule.tool}' stands for has the effect ${rule.effect.join(" or ")}.`
}

function deadRole(name: string, known: RuleContext): string | undefined {
  const roles = known.roles().filter((role) => role.name === name || role.id === name)
  if (roles.length === 0)
    return missing(
      "role",
      name,
      known.roles().map((role) => role.name),
    )
  if (roles.some(({ madeBy }) => madeBy !== "agent")) return undefined
  return `Role '${name}' was made by an agent, and no rule counts for such a role. Name the agent instead.`
}

/** Where no department is declared, any word is one. */
function deadDepartment(name: string, known: RuleContext): string | undefined {
  const declared = known.departments()
  return declared.length === 0 ? undefined : missing("department", name, declared)
}

function deadConditions({ rule, args, touching, except, tools: about }: RuleWithTools): string[] {
  const tools = [...about]
  const declaresNone = tools.every((tool) => tool.touches === undefined)
  const sentences: string[] = []
  if (declaresNone && touching !== undefined)
    sentences.push(`It can never hold: none of the tools '${rule.tool}' stands for says what it touches.`)
  if (declaresNone && except !== undefined)
    sentences.push(`Its exception never applies: none of the tools '${rule.tool}' stands for says what it touches.`)
  for (const { pointer, steps } of args) {
    const [first] = steps
    const parameters = tools.map(parametersOf)
    if (first === undefined || parameters.some((names) => names === undefined || names.includes(first))) continue
    sentences.push(
      `It can never hold: no tool it is about has a parameter for '${pointer}'.${hint(first, parameters.flat() as string[])}`,
    )
  }
  return sentences
}

/** The names of a tool's parameters, or undefined when the input may have others too. */
function parametersOf({ input }: RegisteredTool): string[] | undefined {
  const { properties, additionalProperties } = input.json
  const isClosed = additionalProperties === false && typeof properties === "object" && properties !== null
  return isClosed ? Object.keys(properties) : undefined
}

function missing(what: string, name: string, known: readonly string[], help = ""): string | undefined {
  return known.includes(name) ? undefined : `There is no ${what} '${name}'.${hint(name, known) || help}`
}

/** Models and clients see `tickets__create`, and people write `tickets:create`. */
function howServersToolsAreWritten(name: string): string {
  const [, server, tool] = /^(?!mcp:)([\w-]+?)(?::|__)([\w*?].*)$/.exec(name) ?? []
  return server === undefined || tool === undefined
    ? ""
    : ` A tool of the MCP server '${server}' is written '${mcpName(server, tool)}'.`
}

function hint(name: string, known: readonly string[]): string {
  const guess = nearestName(name, known)
  return guess === undefined ? "" : ` Did you mean '${guess}'?`
}
