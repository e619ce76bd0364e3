import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { JavaScript } from "../../platform/javascript/evaluator.ts"

const longestMs = 30_000
const resultLimit = 200_000

/** Runs JavaScript in an isolated engine without access to anything, so no approval is needed. */
export const runJavaScript = (javaScript: JavaScript) =>
  defineTool({
    name: "run_javascript",
    group: "command",
    category: "code",
    description:
      "Run JavaScript to compute something: the body of an async function with return, or one expression. It finds its data as input and returns JSON. There is no file, network, timer or module; console is captured.",
    effect: "none",
    permission: { level: "public" },
    timeoutMs: longestMs + 5000,
    input: () =>
      z.object({
        code: z.string().min(1).max(20_000).describe("For example return input.numbers.reduce((a, b) => a + b)"),
        input: z.unknown().optional().describe('The value of input, for example {"numbers": [1, 2]}'),
      }),
    output: () =>
      z.object({
        result: z.unknown(),
        logs: z.array(z.string()),
        logsDropped: z.number().optional(),
      }),

    async execute({ code, input }, { signal }) {
      const { result, logs, logsDropped } = await javaScript.run({
        code,
        input,
        resultLimit,
        timeoutMs: longestMs,
        signal,
      })
      return { result, logs, ...(logsDropped === 0 ? {} : { logsDropped }) }
    },
  })
