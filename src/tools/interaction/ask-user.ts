import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { failure } from "../../core/ending.ts"

/** Asks a person for one option, several options, or free text. The question waits in the approval queue. */
export const askUser = () =>
  defineTool({
    name: "ask_user",
    group: "interaction",
    category: "communication",
    description:
      "Ask the user a question. With options they choose one (or several, with multiple); without, they write.",
    effect: "communicate",
    kind: "interactive",
    permission: { level: "public" },
    input: () =>
      z.object({
        question: z.string().min(1).describe("The question, for example Which branch?"),
        options: z.array(z.string().min(1)).max(50).optional().describe("Answers to choose from"),
        multiple: z.boolean().default(false).describe("Several options may be chosen"),
      }),
    output: () => z.object({ question: z.string(), answer: z.union([z.string(), z.array(z.string())]) }),
    question: ({ question, options, multiple }) => ({
      question,
      options: options !== undefined && options.length > 0 ? options : undefined,
      multiple,
    }),

    execute({ question }, { answer }) {
      const given = typeof answer === "string" ? answer : Array.isArray(answer) ? (answer as string[]) : undefined
      if (given === undefined) throw failure("Failed to get user input: nobody answered.", { toolCode: "no_answer" })
      return { question, answer: given }
    },
  })
