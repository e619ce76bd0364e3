import type { McpChange, McpServers, McpServerSpec } from "../core/mcp.ts"
import { serverNameProblem } from "./names.ts"
import type { OAuthAccess } from "./oauth.ts"
import type { ServersHost } from "./servers-host.ts"
import { UpstreamServer } from "./upstream-server.ts"

export interface RunningServers extends McpServers {
  close(): Promise<void>
}

/**
 * Starts the configured servers. They are independent: a problem with one does not affect the others. Trusted tools can
 * be called at once; the call connects.
 */
export async function startMcpServers(specs: readonly McpServerSpec[], host: ServersHost): Promise<RunningServers> {
  const listeners = new Set<(change: McpChange) => void>()
  const notify = (change: McpChange) => {
    for (const listener of listeners) {
      try {
        listener(change)
      } catch (error) {
        host.logger.error("A listener to changes of MCP servers failed.", error)
      }
    }
  }
  // OAuth brings the whole client of the SDK with it; programs without servers at addresses do not load it.
  const oauth = specs.some(({ url }) => url !== undefined) ? await import("./oauth.ts") : undefined
  const servers = specs.map((spec) => createServer(spec, host, notify, oauth?.createOAuthAccess(spec, host.logins)))
  const findServer = (name: string) => {
    const found = servers.find(({ spec }) => spec.name === name)
    if (found !== undefined) return found
    const known = servers.map(({ spec }) => spec.name)
    throw new Error(
      `There is no MCP server '${name}'. ${known.length === 0 ? "None is configured." : `There are: ${known.join(", ")}.`}`,
    )
  }
  if (servers.length > 0) {
    host.documents.onChange((documents) => {
      const idsOf = (wanted: "pin" | "login") =>
        new Set(documents.flatMap(({ kind, id }) => (kind === wanted ? [id] : [])))
      const [pinned, signedIn] = [idsOf("pin"), idsOf("login")]
      for (const server of servers) if (pinned.has(server.spec.name)) server.reload()
      for (const server of servers) if (signedIn.has(server.spec.name)) server.reconnect()
    })
  }
  if (!host.lazy) for (const server of servers) server.start()

  return {
    list: () => servers.map(({ state }) => state),
    async ready(milliseconds, { all = false, unpinned = false } = {}) {
      const awaited = servers.filter(({ hasPins }) => all || !hasPins || !(host.lazy || unpinned))
      await withTimeout(milliseconds, Promise.all(awaited.map((server) => server.waitForOffer())))
    },
    pins: (server) => (server === undefined ? servers : [findServer(server)]).flatMap(({ pins }) => pins),
    trust: async (server, tool, by, shown) => findServer(server).trust(tool, by, shown),
    resources: (server) => findServer(server).offer?.resources ?? [],
    templates: (server) => findServer(server).offer?.templates ?? [],
    prompts: (server) => findServer(server).offer?.prompts ?? [],
    subscribe: async (server, uri) => findServer(server).subscribe(uri),
    signIn: async (server, ...args) => findServer(server).signInApi.signIn(...args),
    finishSignIn: async (server, ...args) => findServer(server).signInApi.finishSignIn(...args),
    signOut: async (server, ...args) => findServer(server).signInApi.signOut(...args),
    onChange(listener) {
      // A wrapper, so that the same function can be added twice.
      const wrapper = (change: McpChange) => listener(change)
      listeners.add(wrapper)
      return () => void listeners.delete(wrapper)
    },
    async close() {
      listeners.clear()
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

/** A server's name is also its group's name, so a server whose name is taken is refused. */
function createServer(
  spec: McpServerSpec,
  host: ServersHost,
  notify: (change: McpChange) => void,
  access: OAuthAccess | undefined,
): UpstreamServer {
  const problem = serverNameProblem(spec.name) ?? groupProblem(spec.name, host)
  if (problem === undefined) {
    host.groups.registerGroup(spec.name, { description: `The tools of the MCP server ${spec.name}`, tools: [] })
  }
  return new UpstreamServer(spec, host, notify, { access, refused: problem })
}

function groupProblem(name: string, { groups }: ServersHost): string | undefined {
  if (groups.isReservedGroup(name)) return `'${name}' is the name of a group of our own. Give the server another name.`
  if (groups.hasGroup(name)) return `There is a group '${name}' already. Give the server another name.`
  return undefined
}

async function withTimeout(milliseconds: number | undefined, done: Promise<unknown>): Promise<void> {
  if (milliseconds === undefined) return void (await done)
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)))
  await Promise.race([done, timeout]).finally(() => clearTimeout(timer))
}
