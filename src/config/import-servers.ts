import { isObject } from "../lib/is-object.ts"
import type { ImportedRule } from "./import-permissions.ts"
import { ServerTextImport, type ImportContext } from "./import-text.ts"
import { invalidServerName } from "./mcp-server-schema.ts"

export interface FoundServer {
  name: string
  entry: unknown
  /** VS Code prompts for values, by id. */
  inputs: readonly Record<string, unknown>[]
  /** The file, for messages. */
  from: string
}

export interface ImportedServer {
  name: string
  theirName: string
  entry: Record<string, unknown>
  /** Rules for tools that the entry allows. */
  rules: ImportedRule[]
}

/** Converts another program's servers into our configuration. What cannot be converted is added to `notes`. */
export function importServers(found: readonly FoundServer[], folder: string, notes: string[]): ImportedServer[] {
  const latest = new Map<string, FoundServer>()
  for (const server of found) {
    const earlier = latest.get(server.name)
    if (earlier !== undefined)
      notes.push(`Server '${server.name}' is in ${earlier.from} and ${server.from}; the latter is used.`)
    latest.set(server.name, server)
  }
  const taken = new Set<string>()
  const variables = new Map<string, string>()
  return [...latest.values()].flatMap((server) => {
    if (!isObject(server.entry)) {
      notes.push(`Server '${server.name}' in ${server.from} is left out: it is not an object.`)
      return []
    }
    if (isOurselves(server.entry)) {
      notes.push(`Server '${server.name}' in ${server.from} is left out: it is Quartermaster itself.`)
      return []
    }
    const name = freeName(server.name, taken)
    if (name !== server.name)
      notes.push(
        `Server '${server.name}' is renamed to '${name}': ${invalidServerName(server.name) ?? "the name is already used"}.`,
      )
    return [imported({ ...server, entry: server.entry }, name, { folder, notes, variables })]
  })
}

/** Reports whether `qm install` wrote this entry. Importing it would make Quartermaster start itself endlessly. */
export function isOurselves({ command, args, headers, bearer_token_env_var }: Record<string, unknown>): boolean {
  const words = [command, ...(Array.isArray(args) ? (args as unknown[]) : [])].filter(
    (word) => typeof word === "string",
  )
  const starts = words.some((word) => /^(qm|qm\.js|quartermaster)$/.test(word.split(/[/\\]/).at(-1) ?? ""))
  const calls = isObject(headers) && /QUARTERMASTER_TOKEN|quartermaster-token|qma_/.test(JSON.stringify(headers))
  return (starts && words.includes("mcp")) || calls || bearer_token_env_var === "QUARTERMASTER_TOKEN"
}

function imported(
  { name: theirName, entry, inputs, from }: FoundServer & { entry: Record<string, unknown> },
  name: string,
  context: ImportContext,
): ImportedServer {
  const { notes } = context
  const texts = new ServerTextImport(name, inputs, from, context)
  const ours: Record<string, unknown> = {}
  const rules: ImportedRule[] = []
  for (const [key, value] of Object.entries(entry)) {
    if (value === null || value === undefined) continue
    if (key === "type" || key === "transport") Object.assign(ours, typeOf(value, theirName, notes))
    else if (key === "command" && typeof value === "string") ours[key] = texts.text(value)
    else if ((key === "url" || key === "serverUrl" || key === "httpUrl") && typeof value === "string")
      ours["url"] = texts.text(value)
    else if (key === "cwd" && typeof value === "string") ours[key] = texts.folder(value)
    else if (key === "args" && Array.isArray(value)) ours[key] = texts.list(value)
    else if ((key === "env" || key === "headers") && isObject(value)) ours[key] = texts.values(value, key)
    else if ((key === "disabled" || key === "enabled") && typeof value === "boolean")
      ours["enabled"] = (key === "enabled") === value
    else if ((key === "autoApprove" || key === "alwaysAllow") && Array.isArray(value))
      rules.push(...allowed(value, name, `${key} of ${theirName} in ${from}`))
    else notes.push(`'${key}' of server '${theirName}' in ${from} is not imported.${hints[key] ?? ""}`)
  }
  return { name, theirName, entry: ours, rules }
}

const hints: Readonly<Record<string, string>> = {
  envFile: " Set the variables of that file before you start Quartermaster, or name them under env.",
  oauth: " 'qm mcp login' signs in to a server that requires it.",
  auth: " 'qm mcp login' signs in to a server that requires it.",
  timeout: " Set 'timeout' in milliseconds if it needs one.",
}

function typeOf(value: unknown, server: string, notes: string[]): Record<string, unknown> {
  if (value === "stdio" || value === "http" || value === "sse") return { type: value }
  if (value === "streamable-http" || value === "streamableHttp" || value === "streamable_http") return { type: "http" }
  notes.push(
    `The type ${JSON.stringify(value)} of server '${server}' is unknown, so the transport is derived from its command or url.`,
  )
  return {}
}

function allowed(tools: readonly unknown[], server: string, source: string): ImportedRule[] {
  return tools.flatMap((tool) => {
    if (typeof tool !== "string" || tool === "") return []
    const named = tool === "*" ? `group:${server}` : `mcp:${server}:${tool}`
    return [{ allow: named, because: `Imported from ${source}.` }]
  })
}

/** A valid and unused name, as close to theirs as possible. */
function freeName(theirs: string, taken: Set<string>): string {
  const spelled =
    theirs
      .replace(/[^A-Za-z0-9_.-]+/g, "-")
      .replace(/^[^A-Za-z0-9]+|-+$/g, "")
      .slice(0, 40) || "server"
  const base = invalidServerName(spelled) === undefined ? spelled : `${spelled}-mcp`
  let name = invalidServerName(theirs) === undefined ? theirs : base
  for (let count = 2; taken.has(name); count++) name = `${base}-${count}`
  taken.add(name)
  return name
}
