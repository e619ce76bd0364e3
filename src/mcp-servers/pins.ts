import type { McpToolDefinition } from "../core/mcp.ts"
import { canonicalJson, sha256 } from "../lib/canonical-json.ts"
import type { Documents, StoredDocument } from "../core/documents.ts"

/** A tool definition that was trusted. Stored in the document `pin`: do not rename fields. */
export interface PinnedTool {
  readonly definition: McpToolDefinition
  readonly hash: string
  readonly warnings: readonly string[]
  /** Why it cannot be used although it is trusted. */
  readonly leftOut?: string
  readonly by: string
  readonly at: number
}

/** The parts of a server besides tools, stored so that it can be called before the server is connected. */
export interface PinnedParts {
  readonly resources: boolean
  readonly prompts: boolean
  readonly completions: boolean
}

/** Everything that is trusted of one server. */
export interface ServerPins {
  readonly tools: ReadonlyMap<string, PinnedTool>
  readonly parts: PinnedParts
  /** The version of the document, for compare-and-set. */
  readonly change: number
}

/** The hash of what a person trusts: any changed character changes it. Icons and `_meta` are not included. */
export function pinHash(definition: McpToolDefinition): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition
  return sha256(canonicalJson({ name, title, description, inputSchema, outputSchema, annotations }))
}

/** The pins of a server; undefined when nothing of it was trusted yet. */
export function readPins(documents: Documents, server: string): ServerPins | undefined {
  const document = documents.get("pin", server)
  return document?.live === true ? fromDocument(document) : undefined
}

/**
 * Changes the pins of a server. If another process changes them at the same time, `make` is called again with its pins.
 * Undefined from `make` leaves them unchanged.
 */
export async function changePins(
  documents: Documents,
  server: string,
  by: string,
  make: (pins: ServerPins | undefined) => Omit<ServerPins, "change"> | undefined,
): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const next = make(readPins(documents, server))
    if (next === undefined) return
    const expected = documents.get("pin", server)?.change ?? 0
    const body: PinBody = { tools: [...next.tools.values()], parts: next.parts }
    const { written } = await documents.put({ kind: "pin", id: server, body }, by, expected)
    if (written) return
    await documents.refresh()
  }
  throw new Error(`Other processes keep changing the pins of ${server}. Try again.`)
}

/** The names of the fields that differ between two definitions. */
export function differences(pinned: McpToolDefinition, offered: McpToolDefinition): string[] {
  const fields = ["title", "description", "inputSchema", "outputSchema", "annotations"] as const
  return fields.filter((field) => canonicalJson({ of: pinned[field] }) !== canonicalJson({ of: offered[field] }))
}

interface PinBody {
  tools: readonly PinnedTool[]
  parts: PinnedParts
}

/** The store has a list, because a tool may have a name that cannot be an object key. */
function fromDocument({ body, change }: StoredDocument): ServerPins {
  const { tools, parts } = body as PinBody
  return { tools: new Map(tools.map((tool) => [tool.definition.name, tool])), parts, change }
}
