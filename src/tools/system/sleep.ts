import { setTimeout as wait } from "node:timers/promises"
import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"

/** Waits. Its time limit is above the longest wait. */
export const sleep = () =>
  defineTool({
    name: "sleep",
    group: "system",
    category: "system",
    description: "Wait for a number of seconds, 590 at most.",
    effect: "none",
    timeoutMs: 600_000,
    input: () => z.object({ duration: z.number().min(0).max(590).describe("Seconds, for example 1.5") }),
    output: () => z.object({ slept: z.number() }),

    async execute({ duration }, { signal }) {
      await wait(duration * 1000, undefined, { signal })
      return { slept: duration }
    },
  })
