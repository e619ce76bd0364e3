import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import type { Processes } from "../../model/processes.ts"
import { backgroundShape } from "./shapes.ts"

/** Ends a background command with all it started. Only its own agent can; one that has ended stays as it is. */
export const commandStop = (processes: Processes) =>
  defineTool({
    name: "command_stop",
    group: "command",
    category: "execution",
    description: "End a background command and everything it started. What it printed can still be read.",
    effect: "execute",
    permission: { level: "public" },
    input: z.object({
      id: z.string().min(1).describe("The id that a background command was given, for example command-1"),
    }),
    output: backgroundShape,

    execute: ({ id }, { agent, taskId }) => processes.stop(id, { agentId: agent.id, taskId }),
  })
