import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { SnippetStorage } from "../../store/snippet-store.ts"
import { snippetNameOrId, snippetNotFound } from "./snippet-schemas.ts"

/** Loads a snippet by its name or id. */
export const snippetLoad = (storage: SnippetStorage) =>
  defineTool({
    name: "snippet_load",
    group: "code",
    category: "code",
    description: "Load a saved snippet by its name or id.",
    effect: "read",
    permission: { level: "public" },
    idempotent: true,
    input: () => z.object({ name: snippetNameOrId }),
    output: () =>
      z.object({
        id: z.string(),
        name: z.string(),
        code: z.string(),
        description: z.string(),
        language: z.string(),
        tags: z.array(z.string()),
        createdAt: z.number(),
        updatedAt: z.number(),
      }),

    async execute({ name }) {
      const found = await storage.load(name.normalize("NFC"))
      if (found === undefined) throw await snippetNotFound(storage, name)
      return found
    },
  })
