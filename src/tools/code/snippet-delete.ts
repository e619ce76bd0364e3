import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import type { SnippetStorage } from "../../model/snippets.ts"
import { nameOrId, noSnippet } from "./snippet-shapes.ts"

/** Forgets a snippet for good. */
export const snippetDelete = (storage: SnippetStorage) =>
  defineTool({
    name: "snippet_delete",
    group: "code",
    category: "code",
    description: "Delete a saved snippet by its name or id.",
    effect: "write",
    input: z.object({ name: nameOrId }),
    output: z.object({ success: z.boolean(), id: z.string(), name: z.string() }),

    async execute({ name }) {
      const deleted = await storage.delete(name.normalize("NFC"))
      if (deleted === undefined) throw await noSnippet(storage, name)
      return { success: true, id: deleted.id, name: deleted.name }
    },
  })
