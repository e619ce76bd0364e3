import { z } from "zod"
import type { Ask } from "../../model/approval.ts"
import { defineTool } from "../../model/define-tool.ts"
import { failure } from "../../model/ending.ts"

/** Asks a person: one of some options, several of them, or free text. `ask` is the door's way of asking. */
export const askUser = (ask: Ask | undefined) =>
  defineTool({
    name: "ask_user",
    group: "interaction",
    category: "communication",
    description:
      "Ask the user a question. With options they choose one (or several, with multiple); without, they write.",
    effect: "communicate",
    kind: "interactive",
    permission: { level: "public" },
    input: z.object({
      question: z.string().min(1).describe("The question, for example Which branch?"),
      options: z.array(z.string().min(1)).max(50).optional().describe("Answers to choose from"),
      multiple: z.boolean().default(false).describe("Several options may be chosen"),
    }),
    output: z.object({ question: z.string(), answer: z.union([z.string(), z.array(z.string())]) }),

    async execute({ question, options, multiple }, { signal }) {
      if (ask === undefined) throw notAsked("nobody is attached who could be asked")
      const choices = options !== undefined && options.length > 0 ? options : undefined
      try {
        return { question, answer: await ask({ question, options: choices, multiple, signal }) }
      } catch (error) {
        throw notAsked(error instanceof Error ? error.message : String(error))
      }
    },
  })

function notAsked(why: string) {
  return failure(`Failed to get user input: ${why}`, { toolCode: "no_answer" })
}
