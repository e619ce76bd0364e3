import { normalizeUrl } from "../../lib/url.ts"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { mcpName, mcpParts, type McpPrompt, type McpResource, type McpResourceTemplate } from "../../core/mcp.ts"

/** A resource, template or prompt of another server. */
export interface UpstreamItem<T> {
  readonly server: string
  /** Its URI or name for our clients. */
  readonly nameHere: string
  /** Its URI or name on its own server. */
  readonly upstreamName: string
  readonly item: T
}

/** The resources an agent may read, sorted. If two servers have the same URI, the first by name keeps it unchanged. */
export function resourcesFor(app: Quartermaster, agentId: string): UpstreamItem<McpResource>[] {
  return resourceItems(app, agentId, (server) =>
    app.mcp.resources(server).map((item) => ({ upstreamName: item.uri, item })),
  )
}

export function templatesFor(app: Quartermaster, agentId: string): UpstreamItem<McpResourceTemplate>[] {
  return resourceItems(app, agentId, (server) =>
    app.mcp.templates(server).map((item) => ({ upstreamName: item.uriTemplate, item })),
  )
}

/** The prompts an agent may use, sorted: `server__prompt`, or unchanged if the server's names have no prefix. */
export function promptsFor(app: Quartermaster, agentId: string): UpstreamItem<McpPrompt>[] {
  const withoutPrefix = new Set(app.mcp.list().flatMap(({ name, prefix }) => (prefix ? [] : [name])))
  const taken = new Set<string>()
  const offered = visibleServers(app, agentId, mcpParts.prompt).flatMap((server) =>
    app.mcp.prompts(server).map((item): UpstreamItem<McpPrompt> => {
      const upstreamName = item.name
      let nameHere = withoutPrefix.has(server) && !taken.has(upstreamName) ? upstreamName : `${server}__${upstreamName}`
      while (taken.has(nameHere)) nameHere = `${nameHere}_`
      taken.add(nameHere)
      return { server, nameHere, upstreamName, item }
    }),
  )
  return sortByNameHere(offered)
}

/**
 * The server that has the resource: the one that lists it, the one named by a URI `server+uri`, one with a matching
 * template, or the only one there is.
 */
export function resolveResource(
  app: Quartermaster,
  agentId: string,
  uri: string,
): { server: string; uri: string } | undefined {
  const listed = resourcesFor(app, agentId).find(({ nameHere }) => nameHere === uri)
  if (listed !== undefined) return { server: listed.server, uri: listed.upstreamName }
  const servers = visibleServers(app, agentId, mcpParts.read)
  const namedServer = servers.find((server) => uri.startsWith(`${server}+`))
  if (namedServer !== undefined)
    return { server: namedServer, uri: canonicalUri(app, namedServer, uri.slice(namedServer.length + 1)) }
  const normalized = normalizeUrl(uri) ?? uri
  const fitting = templatesFor(app, agentId).find(({ upstreamName }) => couldMatchTemplate(upstreamName, normalized))
  const server = fitting?.server ?? (servers.length === 1 ? servers[0] : undefined)
  return server === undefined ? undefined : { server, uri: normalized }
}

/** The URI as the server lists it, else normalized. */
function canonicalUri(app: Quartermaster, server: string, uri: string): string {
  return app.mcp.resources(server).some((resource) => resource.uri === uri) ? uri : (normalizeUrl(uri) ?? uri)
}

/** The servers of which an agent may use that part, sorted by name. */
export function visibleServers(app: Quartermaster, agentId: string, part: string): string[] {
  return app.mcp
    .list()
    .map(({ name }) => name)
    .filter((server) => app.isVisible(agentId, mcpName(server, part)))
    .sort()
}

function resourceItems<T>(
  app: Quartermaster,
  agentId: string,
  offers: (server: string) => { upstreamName: string; item: T }[],
): UpstreamItem<T>[] {
  const taken = new Set<string>()
  const servers = visibleServers(app, agentId, mcpParts.read)
  // A URI that begins with `server+` always belongs to that server, even if another one lists it.
  const namesServer = (upstreamName: string) => servers.some((name) => upstreamName.startsWith(`${name}+`))
  const offered = servers.flatMap((server) =>
    offers(server).map(({ upstreamName, item }): UpstreamItem<T> => {
      const nameHere = taken.has(upstreamName) || namesServer(upstreamName) ? `${server}+${upstreamName}` : upstreamName
      taken.add(nameHere)
      return { server, nameHere, upstreamName, item }
    }),
  )
  return sortByNameHere(offered)
}

export function sortByNameHere<T>(offered: UpstreamItem<T>[]): UpstreamItem<T>[] {
  return offered.sort((left, right) => (left.nameHere < right.nameHere ? -1 : left.nameHere > right.nameHere ? 1 : 0))
}

/**
 * Tests whether a URI could match a template: it contains the template's fixed parts in order. The server checks the rest, so
 * that a complicated template cannot make us slow.
 */
export function couldMatchTemplate(template: string, uri: string): boolean {
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
