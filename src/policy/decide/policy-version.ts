import { canonicalJson, sha256 } from "../../lib/canonical-json.ts"
import type { Documents } from "../../core/documents.ts"
import type { RegisteredTool } from "../../core/tool.ts"

interface Registry {
  readonly version: number
  list(): readonly RegisteredTool[]
}

/**
 * A hash of everything that decides: configuration, organisation, rules, grants, modes, and the permission of each tool. It
 * also changes when one more rule has expired.
 */
export function policyVersion(
  configured: unknown,
  documents: Documents,
  registry: Registry,
): (expired: number) => string {
  const configuration = sha256(canonicalJson(configured))
  let known = { documents: -1, tools: -1, expired: 0, hash: "" }
  return (expired) => {
    const isSame =
      known.documents === documents.version && known.tools === registry.version && known.expired === expired
    if (!isSame) {
      const tools = registry.list().map(decisiveFields).sort()
      const hash = sha256(
        [configuration, documents.digest, ...tools, ...(expired === 0 ? [] : [`${expired} expired`])].join("\n"),
      ).slice(0, 16)
      known = { documents: documents.version, tools: registry.version, expired, hash }
    }
    return known.hash
  }
}

function decisiveFields({ id, permission, effect, kind, group, enabled }: RegisteredTool): string {
  return JSON.stringify([id, permission, effect, kind, group, enabled])
}
