import type { Logger } from "../../model/logger.ts"
import type { McpChange, McpServers, McpServerSpec } from "../../model/mcp.ts"
import type { Documents } from "../../model/documents.ts"
import type { Layer, RegisteredTool, Tool, ToolType } from "../../model/tool.ts"
import { nameProblem } from "./names.ts"
import { Server } from "./server.ts"

/** What other people's servers need of the house. */
export interface ServersHost {
  registry: {
    register(tool: Tool, options: { layer: Layer; type: ToolType; replace?: boolean }): RegisteredTool
    unregister(name: string, options: { layer: Layer; version?: string }): boolean
    list(): readonly RegisteredTool[]
    wireNames(): { toWire(name: string): string; fromWire(wire: string): string | undefined }
  }
  groups: {
    hasGroup(id: string): boolean
    isReservedGroup(id: string): boolean
    registerGroup(id: string, group: { description: string; tools: [] }): unknown
    unregisterGroup(id: string): unknown
  }
  /** Where pins are kept. */
  documents: Documents
  logger: Logger
  /** The folder servers are told of. */
  workspace: string
  /** Our own version, told to servers. */
  version: string
  /** The private folder of what people got by signing in; without it nobody signs in. */
  logins?: string
  /** True waits with a connection until it is needed: for a process that makes one call and ends. */
  lazy: boolean
}

export interface RunningServers extends McpServers {
  close(): Promise<void>
}

/**
 * Starts the servers of the configuration. Each is on its own: what is wrong with one is shown there and keeps no other
 * from working. What was agreed to before can be called at once; the call connects.
 */
export function mcpServers(specs: readonly McpServerSpec[], host: ServersHost): RunningServers {
  const listeners = new Set<(change: McpChange) => void>()
  const tell = (change: McpChange) => {
    for (const listener of listeners) {
      try {
        listener(change)
      } catch (error) {
        host.logger.error("A listener to changes of MCP servers failed.", error)
      }
    }
  }
  const servers = specs.map((spec) => begin(spec, host, tell))
  const named = (name: string) => {
    const found = servers.find(({ spec }) => spec.name === name)
    if (found !== undefined) return found
    const known = servers.map(({ spec }) => spec.name)
    throw new Error(
      `There is no MCP server '${name}'. ${known.length === 0 ? "None is configured." : `There are: ${known.join(", ")}.`}`,
    )
  }
  if (servers.length > 0) {
    host.documents.onChange((documents) => {
      const idsOf = (of: "pin" | "login") => new Set(documents.flatMap(({ kind, id }) => (kind === of ? [id] : [])))
      const [pinned, signedIn] = [idsOf("pin"), idsOf("login")]
      for (const server of servers) if (pinned.has(server.spec.name)) server.reload()
      for (const server of servers) if (signedIn.has(server.spec.name)) server.again()
    })
  }
  if (!host.lazy) for (const server of servers) server.start()

  return {
    list: () => servers.map(({ state }) => state),
    async ready(milliseconds, { all = false } = {}) {
      const asked = servers.filter(({ hasPins }) => all || !host.lazy || !hasPins)
      await atMost(milliseconds, Promise.all(asked.map((server) => server.known())))
    },
    pins: (server) => (server === undefined ? servers : [named(server)]).flatMap(({ pins }) => pins),
    trust: async (server, tool, by, shown) => named(server).trust(tool, by, shown),
    resources: (server) => named(server).offer?.resources ?? [],
    templates: (server) => named(server).offer?.templates ?? [],
    prompts: (server) => named(server).offer?.prompts ?? [],
    subscribe: async (server, uri) => named(server).subscribe(uri),
    signIn: async (server, ...given) => named(server).signing.signIn(...given),
    finishSignIn: async (server, ...given) => named(server).signing.finishSignIn(...given),
    signOut: async (server, ...given) => named(server).signing.signOut(...given),
    onChange(listener) {
      // A wrapper, so that one function may listen twice.
      const own = (change: McpChange) => listener(change)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    async close() {
      listeners.clear()
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

/** A server is a group by its name, so a name that is taken is refused before anything else happens. */
function begin(spec: McpServerSpec, host: ServersHost, tell: (change: McpChange) => void): Server {
  const taken = nameProblem(spec.name) ?? groupProblem(spec.name, host)
  if (taken === undefined) {
    host.groups.registerGroup(spec.name, { description: `The tools of the MCP server ${spec.name}`, tools: [] })
  }
  return new Server(spec, host, tell, taken)
}

function groupProblem(name: string, { groups }: ServersHost): string | undefined {
  if (groups.isReservedGroup(name)) return `'${name}' is the name of a group of our own. Give the server another name.`
  if (groups.hasGroup(name)) return `There is a group '${name}' already. Give the server another name.`
  return undefined
}

async function atMost(milliseconds: number | undefined, done: Promise<unknown>): Promise<void> {
  if (milliseconds === undefined) return void (await done)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)))
  await Promise.race([done, late]).finally(() => clearTimeout(timer))
}
