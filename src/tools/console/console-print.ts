import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"

/** Shows a text to the person who runs the agent. `print` is how the interface shows it. */
export const consolePrint = (print: (text: string) => void) =>
  defineTool({
    name: "console_print",
    group: "console",
    category: "utility",
    description: "Show a text to the person who runs this agent.",
    effect: "communicate",
    permission: { level: "public" },
    input: () => z.object({ text: z.string().describe("The text to show") }),
    output: () => z.object({ ok: z.literal(true) }),

    execute({ text }) {
      print(text)
      return { ok: true }
    },
  })
