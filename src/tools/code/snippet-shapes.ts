import { z } from "zod"
import { failure } from "../../model/ending.ts"
import { nearest } from "../../model/nearest.ts"
import type { SnippetStorage } from "../../model/snippets.ts"

export const tags = z.array(z.string().trim().min(1).max(100)).max(50)

export const nameOrId = z.string().trim().min(1).max(200).describe("The snippet's name or id")

/** What is said of a name that is not there, with the one that may have been meant. */
export async function noSnippet(storage: SnippetStorage, name: string): Promise<Error> {
  const guess = nearest(
    name,
    (await storage.list()).map((snippet) => snippet.name),
  )
  const next = guess === undefined ? "Call snippet_list to see what there is." : `Did you mean '${guess}'?`
  return failure(`Snippet '${name}' not found. ${next}`, { toolCode: "snippet_not_found" })
}
