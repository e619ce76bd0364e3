import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { failure } from "../../core/ending.ts"

/** Encodes text, as UTF-8, in Base64. A lone surrogate has no UTF-8 form and is refused. */
export const base64Encode = () =>
  defineTool({
    name: "base64_encode",
    group: "data",
    category: "data",
    description: "Encode text (as UTF-8) in Base64.",
    effect: "none",
    input: () => z.object({ text: z.string().describe("The text to encode") }),
    output: () => z.object({ encoded: z.string() }),

    execute({ text }) {
      if (/\p{Surrogate}/u.test(text)) {
        throw failure("The text contains half of a character (a lone surrogate). Leave it out.", {
          toolCode: "not_text",
        })
      }
      return { encoded: Buffer.from(text, "utf8").toString("base64") }
    },
  })
