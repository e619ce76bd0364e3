import { createHash } from "node:crypto"

/** JSON with sorted keys: equal values have equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, node: unknown) => {
    if (typeof node !== "object" || node === null || Array.isArray(node)) return node
    const sorted = Object.create(null) as Record<string, unknown>
    for (const key of Object.keys(node).sort()) sorted[key] = (node as Record<string, unknown>)[key]
    return sorted
  })
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
