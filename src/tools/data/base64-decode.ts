import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { failure } from "../../core/ending.ts"

/** Decodes Base64 to text. Bytes that are not UTF-8 are refused. */
export const base64Decode = () =>
  defineTool({
    name: "base64_decode",
    group: "data",
    category: "data",
    description: "Decode Base64 (standard or URL-safe) to UTF-8 text.",
    effect: "none",
    input: () => z.object({ encoded: z.string().describe("The Base64 text, for example aGVsbG8=") }),
    output: () => z.object({ decoded: z.string() }),

    execute({ encoded }) {
      const text = encoded.replace(/\s+/g, "")
      if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text) || text.replace(/=+$/, "").length % 4 === 1) {
        throw failure("The text is not Base64. Check that nothing was cut off.", { toolCode: "invalid_base64" })
      }
      try {
        return {
          decoded: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, "base64")),
        }
      } catch {
        throw failure("The bytes are not UTF-8 text. Store them with put_artifact (encoding base64) instead.", {
          toolCode: "not_text",
        })
      }
    },
  })
