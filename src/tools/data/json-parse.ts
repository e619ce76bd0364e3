import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { failure } from "../../core/ending.ts"
import { errorMessage } from "../../lib/error-message.ts"

/** Reads JSON text. */
export const jsonParse = () =>
  defineTool({
    name: "json_parse",
    group: "data",
    category: "data",
    description: "Parse JSON text and return the value it stands for.",
    effect: "none",
    input: () => z.object({ text: z.string().describe('The JSON text, for example {"a": 1}') }),

    execute({ text }) {
      try {
        return { data: JSON.parse(text) as unknown }
      } catch (error) {
        const why = errorMessage(error)
        throw failure(`The text is not JSON: ${why}. Correct it and call again.`, {
          toolCode: "invalid_json",
          cause: error,
        })
      }
    },
  })
