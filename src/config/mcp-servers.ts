import { resolve } from "node:path"
import type { McpServerSpec } from "../core/mcp.ts"
import type { UnsetVariables } from "../core/unset-variables.ts"
import type { Layer } from "../core/tool.ts"
import type { ServerEntry } from "./mcp-server-schema.ts"
import type { Config } from "./schema.ts"

/** The configured servers in one form. Call it when `serverFlaws` finds nothing. `unset` are those that miss variables. */
export function serverSpecs(config: Config, unset: UnsetVariables["servers"] = {}): McpServerSpec[] {
  const missing = Object.entries(unset).map(([name, variables]) => ({ ...specOf(name, {}), unset: variables }))
  return [...Object.entries(entriesOf(config)).map(([name, entry]) => specOf(name, entry)), ...missing]
}

function specOf(name: string, entry: ServerEntry): McpServerSpec {
  return {
    name,
    enabled: isEnabled(entry),
    ...(entry.command === undefined
      ? { url: entry.url, headers: entry.headers }
      : { command: entry.command, args: entry.args, env: entry.env, cwd: entry.cwd }),
    transport: transportOf(entry),
    layer: (entry.layer ?? "system") as Layer,
    prefix: entry.prefix ?? true,
    trust: entry.trust ?? "first",
    sampling: entry.sampling ?? "refuse",
    ...(entry.roots === undefined ? {} : { roots: entry.roots }),
    ...(entry.trustReadOnly === true ? { trustReadOnly: true } : {}),
    ...(entry.protocol === undefined ? {} : { protocol: entry.protocol }),
    connectTimeoutMs: entry.connectTimeout,
    timeoutMs: entry.timeout,
    ...(entry.auth === undefined ? {} : { auth: { ...entry.auth, grant: entry.auth.grant ?? "code" } }),
  }
}

/** The servers that are believed when they say that a tool only reads. */
export function readOnlyTrusted(config: Config): string[] {
  const trusted = Object.entries(entriesOf(config)).filter(([, entry]) => entry.trustReadOnly === true)
  return trusted.map(([name]) => name)
}

/** Problems of servers after merging; a single layer may contain only a part of a server. */
export function serverFlaws(config: Config): { key: string; sentence: string }[] {
  return Object.entries(entriesOf(config)).flatMap(([name, entry]) => {
    const key = `mcpServers.${name}`
    return problemsOf(entry).map((problem) => ({ key, sentence: `'${key}' ${problem}` }))
  })
}

/** Moves a layer's servers to `mcpServers` by name and resolves their folders, so that layers can be merged. */
export function withServersByName(config: Config, folder: string): Config {
  if (config.mcpServers === undefined && config.tools?.mcpServers === undefined) return config
  const { tools, ...rest } = config
  const { mcpServers: _alias, ...others } = tools ?? {}
  const entries = Object.entries(entriesOf(config)).map(([name, { cwd, ...entry }]) => {
    return [name, cwd === undefined ? entry : { ...entry, cwd: resolve(folder, cwd) }] as const
  })
  const left = tools === undefined || Object.keys(others).length === 0 ? {} : { tools: others }
  return { ...rest, ...left, mcpServers: Object.fromEntries(entries) }
}

function entriesOf({ mcpServers, tools }: Config): Readonly<Record<string, ServerEntry>> {
  const given = mcpServers ?? tools?.mcpServers ?? {}
  return Array.isArray(given) ? Object.fromEntries(given.map(({ name, ...entry }) => [name, entry])) : given
}

function isEnabled({ enabled, disabled }: ServerEntry): boolean {
  return enabled ?? disabled !== true
}

function transportOf({ type, transport }: ServerEntry): McpServerSpec["transport"] {
  const kind = type ?? transport
  return kind === "streamable-http" || kind === "streamableHttp" ? "http" : kind
}

function problemsOf(entry: ServerEntry): string[] {
  const { command, url, enabled, disabled, type, transport } = entry
  const kind = transportOf(entry)
  const found: [string, boolean][] = [
    ["has both a command and a url. A server is a program or a URL; keep one of them.", both(command, url)],
    ["has neither a command nor a url. Add the command that starts the server, or its URL.", !command && !url],
    [
      "has both a type and a transport, and they differ. Keep one of them.",
      both(type, transport) && type !== transport,
    ],
    ["is enabled and disabled. Keep one of them.", both(enabled, disabled) && enabled === disabled],
    ["is of type stdio and has a url. Leave the type out, or give the command.", kind === "stdio" && !command && !!url],
    [
      `is of type ${kind} and has a command. Leave the type out, or give the url.`,
      kind !== undefined && kind !== "stdio" && command !== undefined && url === undefined,
    ],
    ...(["args", "env", "cwd"] as const).map((key): [string, boolean] => [
      `has a url and ${key}, which are for a program. Remove ${key}.`,
      entry[key] !== undefined && command === undefined && url !== undefined,
    ]),
    ["has a command and headers, which are for a URL. Remove them.", both(command, entry.headers) && !url],
    ["has a command and auth, which is for a URL. Remove auth.", both(command, entry.auth) && !url],
    [
      "has auth and an Authorization header, which both authenticate. Keep one of them.",
      entry.auth !== undefined && Object.keys(entry.headers ?? {}).some((name) => /^authorization$/i.test(name)),
    ],
    [
      "has the grant client_credentials, for which auth.clientId and auth.clientSecret are needed. Add them.",
      entry.auth?.grant === "client_credentials" && !both(entry.auth.clientId, entry.auth.clientSecret),
    ],
    [
      "has an auth.clientSecret and no auth.clientId. Add it.",
      entry.auth?.clientSecret !== undefined &&
        entry.auth.clientId === undefined &&
        entry.auth.grant !== "client_credentials",
    ],
  ]
  return found.flatMap(([sentence, holds]) => (holds ? [sentence] : []))
}

function both(a: unknown, b: unknown): boolean {
  return a !== undefined && b !== undefined
}
