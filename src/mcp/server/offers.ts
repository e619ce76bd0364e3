import { normalAddress } from "../../model/address.ts"
import type { App } from "../../model/app.ts"
import { mcpName, mcpParts, type McpPrompt, type McpResource, type McpResourceTemplate } from "../../model/mcp.ts"

/** Something another server offers, by the address or name it has here. */
export interface Offered<T> {
  readonly server: string
  /** What it is called here. */
  readonly shown: string
  /** What it is called there. */
  readonly own: string
  readonly item: T
}

/** The resources an agent may read, sorted. What two servers offer by one address is the first one's by name. */
export function resourcesFor(app: App, agentId: string): Offered<McpResource>[] {
  return addressed(app, agentId, (server) => app.mcp.resources(server).map((item) => ({ own: item.uri, item })))
}

export function templatesFor(app: App, agentId: string): Offered<McpResourceTemplate>[] {
  return addressed(app, agentId, (server) => app.mcp.templates(server).map((item) => ({ own: item.uriTemplate, item })))
}

/** The prompts an agent may use, sorted: `server__prompt`, and unchanged where the server keeps its own names. */
export function promptsFor(app: App, agentId: string): Offered<McpPrompt>[] {
  const kept = new Set(app.mcp.list().flatMap(({ name, prefix }) => (prefix ? [] : [name])))
  const taken = new Set<string>()
  const offered = visibleServers(app, agentId, mcpParts.prompt).flatMap((server) =>
    app.mcp.prompts(server).map((item): Offered<McpPrompt> => {
      const own = item.name
      let shown = kept.has(server) && !taken.has(own) ? own : `${server}__${own}`
      while (taken.has(shown)) shown = `${shown}_`
      taken.add(shown)
      return { server, shown, own, item }
    }),
  )
  return sorted(offered)
}

/**
 * Which server has the resource with that address: the one that lists it, the one it names as `server+address`, one with
 * a template that fits, or the only one there is.
 */
export function serverOf(app: App, agentId: string, uri: string): { server: string; uri: string } | undefined {
  const listed = resourcesFor(app, agentId).find(({ shown }) => shown === uri)
  if (listed !== undefined) return { server: listed.server, uri: listed.own }
  const servers = visibleServers(app, agentId, mcpParts.read)
  const named = servers.find((server) => uri.startsWith(`${server}+`))
  if (named !== undefined) return { server: named, uri: written(app, named, uri.slice(named.length + 1)) }
  const asked = normalAddress(uri) ?? uri
  const fitting = templatesFor(app, agentId).find(({ own }) => fits(own, asked))
  const server = fitting?.server ?? (servers.length === 1 ? servers[0] : undefined)
  return server === undefined ? undefined : { server, uri: asked }
}

/** As the server lists it, else as it is normally written. */
function written(app: App, server: string, uri: string): string {
  return app.mcp.resources(server).some((one) => one.uri === uri) ? uri : (normalAddress(uri) ?? uri)
}

/** The servers of which an agent may use that part, in the order of their names. */
export function visibleServers(app: App, agentId: string, part: string): string[] {
  return app.mcp
    .list()
    .map(({ name }) => name)
    .filter((server) => app.mayKnow(agentId, mcpName(server, part)))
    .sort()
}

function addressed<T>(app: App, agentId: string, offers: (server: string) => { own: string; item: T }[]): Offered<T>[] {
  const taken = new Set<string>()
  const servers = visibleServers(app, agentId, mcpParts.read)
  // What begins with the name of a server is for that server, whoever lists it.
  const isOfOther = (own: string) => servers.some((name) => own.startsWith(`${name}+`))
  const offered = servers.flatMap((server) =>
    offers(server).map(({ own, item }): Offered<T> => {
      const shown = taken.has(own) || isOfOther(own) ? `${server}+${own}` : own
      taken.add(shown)
      return { server, shown, own, item }
    }),
  )
  return sorted(offered)
}

/** By what they are called here. */
export function sorted<T>(offered: Offered<T>[]): Offered<T>[] {
  return offered.sort((one, other) => (one.shown < other.shown ? -1 : one.shown > other.shown ? 1 : 0))
}

/**
 * Whether an address could be made from a template: its fixed parts stand in it in their order. The server judges the
 * rest, so that no template of theirs decides how long we look.
 */
export function fits(template: string, uri: string): boolean {
  const [first = "", ...rest] = template.split(/\{[^{}]*\}/)
  const last = rest.pop()
  if (last === undefined) return template === uri
  const end = uri.length - last.length
  if (!uri.startsWith(first) || !uri.endsWith(last) || end < first.length) return false
  let at = first.length
  for (const part of rest) {
    const found = uri.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
