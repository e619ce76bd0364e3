import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"

/** Encodes text, as UTF-8, in Base64. */
export const base64Encode = () =>
  defineTool({
    name: "base64_encode",
    group: "data",
    category: "data",
    description: "Encode text (as UTF-8) in Base64.",
    effect: "none",
    input: z.object({ text: z.string().describe("The text to encode") }),
    output: z.object({ encoded: z.string() }),

    execute({ text }) {
      return { encoded: Buffer.from(text, "utf8").toString("base64") }
    },
  })
