import { mcpName, mcpParts } from "../../model/mcp.ts"
import { sha256 } from "../../model/plain.ts"

const longest = 128
const hashLength = 12
const ours = /^[A-Za-z0-9_.:-]+$/
const looksHashed = /_[0-9a-f]{12}$/
/** What every provider takes as a tool's name. */
const outside = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/**
 * What a server's tool is called in the house. Names our tools cannot have are spelled out as well as they can be and
 * get a hash; a name that looks as if it had one gets one too, so that no two names of a server meet.
 */
export function toolName(server: string, upstream: string): string {
  const plain = mcpName(server, upstream)
  if (ours.test(upstream) && plain.length <= longest && !looksHashed.test(upstream)) return plain
  const room = longest - mcpName(server, "").length - hashLength - 1
  const spelled = upstream.replace(/[^A-Za-z0-9_.:-]/gu, "_").slice(0, Math.max(0, room))
  return mcpName(server, `${spelled}_${sha256(upstream).slice(0, hashLength)}`)
}

/** The server's own name for the outside; undefined where a provider would refuse it, so that one is derived. */
export function ownWireName(upstream: string): string | undefined {
  return outside.test(upstream) ? upstream : undefined
}

/** The names of what is no tool of a server. A tool of theirs by such a name is left out. */
export function isPartName(upstream: string): boolean {
  return Object.values<string>(mcpParts).includes(upstream)
}

/** Why a server cannot have this name, as a sentence. */
export function nameProblem(name: string): string | undefined {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(name)) return undefined
  return `A server's name has letters, digits, _ - and . only, 64 at most, and '${name}' is not such a name. Rename it.`
}
