import { nearest } from "../model/nearest.ts"
import type { RegisteredTool } from "../model/tool.ts"
import type { Known, PlacedRule } from "./flaws.ts"

/** What the rule names that is not there, and what of it can never be so. */
export function deadSentences(placed: PlacedRule, known: Known): string[] {
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

function deadTool({ rule, tool: pattern, about }: PlacedRule, known: Known): string | undefined {
  if (about.size > 0) return undefined
  const names = known.tools().map(({ name }) => name)
  if ("name" in pattern && !names.includes(pattern.name)) return missing("tool", pattern.name, names)
  if ("group" in pattern && !known.groups().includes(pattern.group))
    return missing("group", pattern.group, known.groups())
  if ("glob" in pattern && !names.some((name) => pattern.glob.matches(name)))
    return `No tool has a name that fits '${rule.tool}'.`
  return rule.effect === undefined
    ? `No tool is in '${rule.tool}'.`
    : `None of the tools '${rule.tool}' stands for has the effect ${rule.effect.join(" or ")}.`
}

function deadRole(name: string, known: Known): string | undefined {
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
function deadDepartment(name: string, known: Known): string | undefined {
  const declared = known.departments()
  return declared.length === 0 ? undefined : missing("department", name, declared)
}

function deadConditions({ rule, args, touching, except, about }: PlacedRule): string[] {
  const tools = [...about]
  const untold = tools.every((tool) => tool.touches === undefined)
  const sentences: string[] = []
  if (untold && touching !== undefined)
    sentences.push(`It can never hold: none of the tools '${rule.tool}' stands for says what it touches.`)
  if (untold && except !== undefined)
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

/** The names a tool's input can have, or undefined when that cannot be told. */
function parametersOf({ input }: RegisteredTool): string[] | undefined {
  const { properties, additionalProperties } = input.json
  const isClosed = additionalProperties === false && typeof properties === "object" && properties !== null
  return isClosed ? Object.keys(properties) : undefined
}

function missing(what: string, name: string, there: readonly string[]): string | undefined {
  return there.includes(name) ? undefined : `There is no ${what} '${name}'.${hint(name, there)}`
}

function hint(name: string, there: readonly string[]): string {
  const guess = nearest(name, there)
  return guess === undefined ? "" : ` Did you mean '${guess}'?`
}
