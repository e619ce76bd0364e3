import { mcpName, mcpParts } from "../core/mcp.ts"
import { sha256 } from "../lib/canonical-json.ts"

const maxCharacters = 128
const hashLength = 12
const allowed = /^[A-Za-z0-9_.:-]+$/
const looksHashed = /_[0-9a-f]{12}$/
/** Tool names that every model provider accepts. */
const wireNamePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/**
 * The internal name of a server's tool. A name that our tools cannot have is cleaned up and gets a hash. A name that
 * looks as if it had a hash gets one too, so that two tools of a server never share a name.
 */
export function toolName(server: string, upstream: string): string {
  const unchanged = mcpName(server, upstream)
  if (allowed.test(upstream) && unchanged.length <= maxCharacters && !looksHashed.test(upstream)) return unchanged
  const room = maxCharacters - mcpName(server, "").length - hashLength - 1
  const spelled = upstream.replace(/[^A-Za-z0-9_.:-]/gu, "_").slice(0, Math.max(0, room))
  return mcpName(server, `${spelled}_${sha256(upstream).slice(0, hashLength)}`)
}

/** The server's own tool name as wire name; undefined if a provider would refuse it, so that one is derived. */
export function ownWireName(upstream: string): string | undefined {
  return wireNamePattern.test(upstream) ? upstream : undefined
}

/** Reports whether a name is reserved for a part of a server, such as `resources.read`. Tools with one are left out. */
export function isPartName(upstream: string): boolean {
  return Object.values<string>(mcpParts).includes(upstream)
}

/** A sentence that says why a server cannot have this name. */
export function serverNameProblem(name: string): string | undefined {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(name)) return undefined
  return `A server's name has letters, digits, _ - and . only, 64 at most, and '${name}' is not such a name. Rename it.`
}
