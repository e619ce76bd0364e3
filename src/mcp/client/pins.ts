import type { McpToolDefinition } from "../../model/mcp.ts"
import { canonicalJson, sha256 } from "../../model/plain.ts"
import type { Documents, StoredDocument } from "../../model/documents.ts"

/** One tool as it was agreed to. */
export interface PinnedTool {
  readonly definition: McpToolDefinition
  readonly hash: string
  readonly warnings: readonly string[]
  /** Why it is not among the tools though it is agreed to. */
  readonly leftOut?: string | undefined
  readonly by: string
  readonly at: number
}

/** What a server has besides tools, so that it can be called before the server is connected. */
export interface PinnedParts {
  readonly resources: boolean
  readonly prompts: boolean
  readonly completions: boolean
}

/** Everything that is agreed to of one server. */
export interface ServerPins {
  readonly tools: ReadonlyMap<string, PinnedTool>
  readonly parts: PinnedParts
  /** What a change of it must expect to find. */
  readonly change: number
}

/** What an agreement is about: a single changed character makes another one. Icons and `_meta` are no part of it. */
export function pinHash(definition: McpToolDefinition): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition
  return sha256(canonicalJson({ name, title, description, inputSchema, outputSchema, annotations }))
}

/** What is agreed to of a server; undefined when nobody has agreed to anything yet. */
export function readPins(documents: Documents, server: string): ServerPins | undefined {
  const document = documents.get("pin", server)
  return document?.live === true ? fromDocument(document) : undefined
}

/**
 * Keeps what is agreed to now, made from what was agreed to until then. Somebody else may change it at the same time:
 * then it is made again from what they agreed to. Undefined from `make` leaves it as it is.
 */
export async function changePins(
  documents: Documents,
  server: string,
  by: string,
  make: (pins: ServerPins | undefined) => Omit<ServerPins, "change"> | undefined,
): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    const made = make(readPins(documents, server))
    if (made === undefined) return
    const expected = documents.get("pin", server)?.change ?? 0
    const body: PinBody = { tools: [...made.tools.values()], parts: made.parts }
    const { kept } = await documents.put({ kind: "pin", id: server, body }, by, expected)
    if (kept) return
    await documents.refresh()
  }
  throw new Error(`The pins of ${server} were changed by others again and again. Try it once more.`)
}

/** The names of what differs between two definitions, for a sentence. */
export function differences(pinned: McpToolDefinition, seen: McpToolDefinition): string[] {
  const fields = ["title", "description", "inputSchema", "outputSchema", "annotations"] as const
  return fields.filter((field) => canonicalJson({ of: pinned[field] }) !== canonicalJson({ of: seen[field] }))
}

interface PinBody {
  tools: readonly PinnedTool[]
  parts: PinnedParts
}

/** A list in the store: a tool may have any name, also one that no object can have as a key. */
function fromDocument({ body, change }: StoredDocument): ServerPins {
  const { tools, parts } = body as PinBody
  return { tools: new Map(tools.map((tool) => [tool.definition.name, tool])), parts, change }
}
