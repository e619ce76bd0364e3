import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { failure } from "../../core/ending.ts"
import type { SnippetStorage } from "../../store/snippet-store.ts"
import { snippetTags } from "./snippet-schemas.ts"

const identifier = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Saves a snippet under a name. An existing snippet of that name is replaced and keeps its id. */
export const snippetSave = (storage: SnippetStorage) =>
  defineTool({
    name: "snippet_save",
    group: "code",
    category: "code",
    description:
      "Save a piece of code under a unique name for later use. A snippet that has the name already gets the new code; what else is left out stays as it was.",
    effect: "write",
    idempotent: true,
    input: () =>
      z.object({
        name: z
          .string()
          .trim()
          .min(1)
          .max(200)
          .regex(/^[^\p{Cc}\p{Cs}]+$/u, "must be one line of text")
          .describe("Unique, for example debounce"),
        code: z.string().min(1).max(1_000_000).describe("The code"),
        description: z.string().max(10_000).optional().describe("What it is for"),
        language: z
          .string()
          .trim()
          .min(1)
          .max(50)
          .optional()
          .describe("For example typescript; plaintext when left out"),
        tags: snippetTags.optional().describe("Words to find it by"),
      }),
    output: () => z.object({ id: z.string(), name: z.string(), created: z.boolean() }),

    async execute(draft, { agent }) {
      if (identifier.test(draft.name)) {
        throw failure("A name must not look like an id. Give the snippet a name in words.", { toolCode: "bad_name" })
      }
      const { snippet, created } = await storage.save({ ...draft, name: draft.name.normalize("NFC") }, agent.id)
      return { id: snippet.id, name: snippet.name, created }
    },
  })
