import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { Processes } from "../../platform/processes/process-access.ts"
import { backgroundCommandOutput } from "./output-schemas.ts"

/** Reads the new output of a background command. Only its own agent can, and each piece is returned once. */
export const commandOutput = (processes: Processes) =>
  defineTool({
    name: "command_output",
    group: "command",
    category: "execution",
    description: "Get what a background command has printed since the last call, and whether it still runs.",
    effect: "read",
    input: () =>
      z.object({
        id: z.string().min(1).describe("The id that a background command was given, for example command-1"),
      }),
    output: backgroundCommandOutput.extend({ stdout: z.string(), stderr: z.string(), dropped: z.number() }),

    execute: ({ id }, { agent, taskId }) => processes.output(id, { agentId: agent.id, taskId }),
  })
