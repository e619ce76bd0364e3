import { z } from "zod"
import { answerHook } from "../../hooks/answer-hook.ts"
import { hookClientNames } from "../../hooks/hook-clients.ts"
import { endpoint, type Endpoint } from "./endpoint.ts"

/** The hooks of coding agents on this machine ask here. */
export const hookEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "post",
    path: "/v1/hooks/{client}",
    summary: "Answers the hook of a coding agent on this machine, with what the hook prints and exits with.",
    tag: "Hooks",
    scope: "local",
    params: z.object({ client: z.enum(hookClientNames) }),
    body: z.strictObject({
      agentId: z.string().min(1),
      text: z.string().describe("What came on the hook's stdin"),
      event: z.string().optional().describe("The event, where the agent does not send it"),
      waitMs: z.number().min(0).max(3_600_000),
      serverName: z.string().optional().describe("Our name in the agent's MCP configuration"),
    }),
    answers: { 200: z.object({ stdout: z.string(), stderr: z.string(), code: z.number() }) },
    handle: ({ api, params: { client }, body }) =>
      answerHook(api.app, { client, ...body, askInClient: api.askInClient }),
  }),
]
