import { ownRule } from "./import-own-tools.ts"
import { isObject } from "./merge.ts"

/** A rule as it is written. */
export type ImportedRule = { because: string; touching?: string[] } & Partial<Record<"allow" | "ask" | "deny", string>>

const verdicts = ["deny", "ask", "allow"] as const

/** Claude's permissions as rules, also those about its own tools where they are here too; the rest goes into the notes. */
export function permissionRules(
  section: Record<string, unknown>,
  from: string,
  servers: readonly { name: string; theirName: string }[],
  notes: string[],
): ImportedRule[] {
  const permissions = isObject(section["permissions"]) ? section["permissions"] : {}
  for (const [key, value] of Object.entries(permissions)) {
    if (!verdicts.some((verdict) => verdict === key)) {
      notes.push(`'permissions.${key}: ${JSON.stringify(value)}' in ${from} is not taken over.${hints[key] ?? ""}`)
    }
  }
  const written = [
    ...verdicts.flatMap((verdict) => namesIn(permissions[verdict]).map((name) => ({ verdict, name }))),
    ...namesIn(section["allowedTools"]).map((name) => ({ verdict: "allow" as const, name })),
  ]
  return written.flatMap(({ verdict, name }) => {
    const because = `Taken over from ${from}: ${verdict} ${name}.`
    const tool = toolOf(name, servers)
    if (tool !== undefined) return [{ [verdict]: tool, because }]
    const own = name.startsWith("mcp__") ? whyNot(name, servers) : ownRule(verdict, name)
    if (typeof own !== "string") {
      const { tool: ours, touching } = own
      return [{ [verdict]: ours, ...(touching === undefined ? {} : { touching }), because }]
    }
    notes.push(`'${verdict} ${name}' in ${from} is not taken over: ${own}`)
    return []
  })
}

const hints: Readonly<Record<string, string>> = {
  additionalDirectories: " Quartermaster's own tools see the folder they are started in.",
  defaultMode: " 'qm mode' sets how strict a session is.",
}

/** `mcp__server`, `mcp__server__*` and `mcp__server__tool`; names with two underscores in them are told by the servers. */
function toolOf(written: string, servers: readonly { name: string; theirName: string }[]): string | undefined {
  if (!written.startsWith("mcp__") || written.includes("(")) return undefined
  const rest = written.slice("mcp__".length)
  const fits = servers.filter(
    ({ theirName }) => rest === spelled(theirName) || rest.startsWith(`${spelled(theirName)}__`),
  )
  const server = fits.toSorted((one, other) => other.theirName.length - one.theirName.length)[0]
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
  return servers.length === 0 ? "no server was found." : "none of the servers is called like that."
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : []
}
