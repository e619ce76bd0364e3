import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import type { Processes } from "../../model/processes.ts"
import { backgroundShape } from "./shapes.ts"

/** Reads on in what a background command prints. Only its own agent can, and each piece is read once. */
export const commandOutput = (processes: Processes) =>
  defineTool({
    name: "command_output",
    group: "command",
    category: "execution",
    description: "Get what a background command has printed since it was last asked, and whether it still runs.",
    effect: "read",
    input: z.object({
      id: z.string().min(1).describe("The id that a background command was given, for example command-1"),
    }),
    output: backgroundShape.extend({ stdout: z.string(), stderr: z.string(), dropped: z.number() }),

    execute: ({ id }, { agent, taskId }) => processes.output(id, { agentId: agent.id, taskId }),
  })
