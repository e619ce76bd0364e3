import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { Processes } from "../../platform/processes/process-access.ts"
import { backgroundCommandOutput } from "./output-schemas.ts"

/** Ends a background command with all processes it started. Only its own agent can. */
export const commandStop = (processes: Processes) =>
  defineTool({
    name: "command_stop",
    group: "command",
    category: "execution",
    description: "End a background command and everything it started. What it printed can still be read.",
    effect: "execute",
    permission: { level: "public" },
    input: () =>
      z.object({
        id: z.string().min(1).describe("The id that a background command was given, for example command-1"),
      }),
    output: backgroundCommandOutput,

    execute: ({ id }, { agent, taskId }) => processes.stop(id, { agentId: agent.id, taskId }),
  })
