import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { SnippetStorage } from "../../store/snippet-store.ts"
import { snippetTags } from "./snippet-schemas.ts"

const most = 1000

/** Lists the saved snippets, without their code. */
export const snippetList = (storage: SnippetStorage) =>
  defineTool({
    name: "snippet_list",
    group: "code",
    category: "code",
    description: "List the saved snippets by name, without their code. Filters are combined.",
    effect: "read",
    permission: { level: "public" },
    idempotent: true,
    input: () =>
      z.object({
        tags: snippetTags.optional().describe("Only those that have all of these tags"),
        language: z.string().trim().min(1).max(50).optional().describe("Only those in this language"),
        search: z
          .string()
          .trim()
          .min(1)
          .max(200)
          .optional()
          .describe("Only those with this in the name or description"),
      }),
    output: () =>
      z.object({
        count: z.number(),
        truncated: z.boolean(),
        snippets: z.array(
          z.object({
            id: z.string(),
            name: z.string(),
            description: z.string(),
            language: z.string(),
            tags: z.array(z.string()),
            createdAt: z.number(),
            updatedAt: z.number(),
          }),
        ),
      }),

    async execute(filter) {
      const found = await storage.list(filter)
      return { count: found.length, truncated: found.length > most, snippets: found.slice(0, most) }
    },
  })
