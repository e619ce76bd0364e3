import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { SnippetStorage } from "../../store/snippet-store.ts"
import { snippetNameOrId, snippetNotFound } from "./snippet-schemas.ts"

/** Deletes a snippet. */
export const snippetDelete = (storage: SnippetStorage) =>
  defineTool({
    name: "snippet_delete",
    group: "code",
    category: "code",
    description: "Delete a saved snippet by its name or id.",
    effect: "write",
    input: () => z.object({ name: snippetNameOrId }),
    output: () => z.object({ success: z.boolean(), id: z.string(), name: z.string() }),

    async execute({ name }) {
      const deleted = await storage.delete(name.normalize("NFC"))
      if (deleted === undefined) throw await snippetNotFound(storage, name)
      return { success: true, id: deleted.id, name: deleted.name }
    },
  })
