import { z } from "zod"
import { failure } from "../../core/ending.ts"
import { nearestName } from "../../lib/nearest-name.ts"
import type { SnippetStorage } from "../../store/snippet-store.ts"

export const snippetTags = z.array(z.string().trim().min(1).max(100)).max(50)

export const snippetNameOrId = z.string().trim().min(1).max(200).describe("The snippet's name or id")

/** The failure for an unknown name, with a suggestion. */
export async function snippetNotFound(storage: SnippetStorage, name: string): Promise<Error> {
  const guess = nearestName(
    name,
    (await storage.list()).map((snippet) => snippet.name),
  )
  const next = guess === undefined ? "Call snippet_list to see what there is." : `Did you mean '${guess}'?`
  return failure(`Snippet '${name}' not found. ${next}`, { toolCode: "snippet_not_found" })
}
