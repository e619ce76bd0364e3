import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"

/** Writes a value as JSON text. */
export const jsonStringify = () =>
  defineTool({
    name: "json_stringify",
    group: "data",
    category: "data",
    description: "Write a value as JSON text.",
    effect: "none",
    input: () =>
      z.object({
        data: z
          .unknown()
          .refine((value) => value !== undefined, "is required")
          .describe("The value to write"),
        pretty: z.boolean().default(false).describe("Indent by two spaces"),
      }),
    output: () => z.object({ text: z.string() }),

    execute({ data, pretty }) {
      return { text: JSON.stringify(data, null, pretty ? 2 : undefined) }
    },
  })
