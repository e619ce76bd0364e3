import { canonicalJson, sha256 } from "../model/plain.ts"
import type { Documents } from "../model/documents.ts"
import type { RegisteredTool } from "../model/tool.ts"

interface Registry {
  readonly version: number
  list(): readonly RegisteredTool[]
}

/** A hash of everything that decides: configuration, organisation, rules, grants, modes, and what each tool is held to. */
export function policyVersion(configured: unknown, documents: Documents, registry: Registry): () => string {
  const configuration = sha256(canonicalJson(configured))
  let known = { documents: -1, tools: -1, hash: "" }
  return () => {
    if (known.documents !== documents.version || known.tools !== registry.version) {
      const held = registry.list().map(heldTo).sort()
      const hash = sha256([configuration, documents.digest, ...held].join("\n")).slice(0, 16)
      known = { documents: documents.version, tools: registry.version, hash }
    }
    return known.hash
  }
}

function heldTo({ id, permission, effect, kind, group, enabled }: RegisteredTool): string {
  return JSON.stringify([id, permission, effect, kind, group, enabled])
}
