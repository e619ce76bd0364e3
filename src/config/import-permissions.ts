import { isObject } from "../lib/is-object.ts"
import { claudeToolRule, isOutside, type ClaudeToolRule } from "./import-claude-tools.ts"
import { hideSecrets } from "../lib/secret-patterns.ts"

/** A rule as written in a configuration. */
export type ImportedRule = { because: string; touching?: string[] } & Partial<Record<"allow" | "ask" | "deny", string>>

const verdicts = ["deny", "ask", "allow"] as const

/** Converts Claude's permissions into rules. Those that cannot be converted are added to `notes`. */
export function permissionRules(
  section: Record<string, unknown>,
  from: string,
  servers: readonly { name: string; theirName: string }[],
  notes: string[],
  place: { folder: string; home: string },
): ImportedRule[] {
  const permissions = isObject(section["permissions"]) ? section["permissions"] : {}
  for (const [key, value] of Object.entries(permissions)) {
    if (!verdicts.some((verdict) => verdict === key)) {
      notes.push(`'permissions.${key}: ${JSON.stringify(value)}' in ${from} is not imported.${hints[key] ?? ""}`)
    }
  }
  const written = [
    ...verdicts.flatMap((verdict) => namesIn(permissions[verdict]).map((name) => ({ verdict, name }))),
    ...namesIn(section["allowedTools"]).map((name) => ({ verdict: "allow" as const, name })),
  ]
  return written.flatMap(({ verdict, name }) => {
    if (hideSecrets(name) !== name) {
      notes.push(`'${verdict} ${name}' in ${from} is not imported: there is a secret in it. Write a rule without it.`)
      return []
    }
    const because = `Imported from ${from}: ${verdict} ${name}.`
    const tool = toolOf(name, servers)
    if (tool !== undefined) return [{ [verdict]: tool, because }]
    const own = name.startsWith("mcp__") ? whyNot(name, servers) : claudeToolRule(verdict, name)
    const problem = typeof own === "string" ? own : neverHolds(verdict, own, place)
    if (typeof own === "string" || problem !== undefined) {
      notes.push(`'${verdict} ${name}' in ${from} is not imported: ${problem}`)
      return []
    }
    const { tool: ours, touching, also = [] } = own
    if (also.length > 0) notes.push(`'${verdict} ${name}' in ${from} is imported for ${[ours, ...also].join(", ")}.`)
    return [ours, ...also].map((one) => ({ [verdict]: one, ...(touching === undefined ? {} : { touching }), because }))
  })
}

function neverHolds(
  verdict: string,
  { touching }: ClaudeToolRule,
  place: { folder: string; home: string },
): string | undefined {
  if (verdict !== "allow" || !isOutside(touching, place)) return undefined
  return "the path is outside the workspace, where file tools are refused. To use it, add its folder and '.' to tools.allowedPaths."
}

const hints: Readonly<Record<string, string>> = {
  additionalDirectories: " Quartermaster's tools use the folder they are started in.",
  defaultMode: " 'qm mode' sets how strict a session is.",
}

/** Reads `mcp__server`, `mcp__server__*` and `mcp__server__tool`. The known servers resolve names that contain `__`. */
function toolOf(written: string, servers: readonly { name: string; theirName: string }[]): string | undefined {
  if (!written.startsWith("mcp__") || written.includes("(")) return undefined
  const rest = written.slice("mcp__".length)
  const fits = servers.filter(
    ({ theirName }) => rest === spelled(theirName) || rest.startsWith(`${spelled(theirName)}__`),
  )
  const server = fits.toSorted((a, b) => b.theirName.length - a.theirName.length)[0]
  if (server === undefined) return undefined
  const tool = rest.slice(spelled(server.theirName).length + 2)
  return tool === "" || tool === "*" ? `group:${server.name}` : `mcp:${server.name}:${tool}`
}

/** Claude writes names with letters, digits, _ and - only. */
function spelled(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_")
}

function whyNot(written: string, servers: readonly unknown[]): string {
  if (written.includes("(")) return "it is about arguments. Write a rule with 'args' for it."
  return servers.length === 0 ? "no server was found." : "no imported server has that name."
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : []
}
