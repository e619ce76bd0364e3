import { z } from "zod"

const text = z.string().min(1)
const jsonSchema = z.record(z.string(), z.unknown())

export const toolInfo = z
  .object({
    name: z.string(),
    wireName: z.string().describe("Its name for models and MCP clients."),
    title: z.string().optional(),
    description: z.string(),
    group: z.string(),
    category: z.string(),
    type: z.enum(["builtin", "mcp", "custom"]),
    layer: z.string(),
    version: z.string(),
    author: z.string(),
    tags: z.array(z.string()),
    effect: z.string().optional(),
    level: z.enum(["public", "moderate", "sensitive"]),
    enabled: z.boolean(),
    quarantine: z.string().optional().describe("Why no agent may use it until a person has reviewed it."),
    destructive: z.boolean(),
    permission: z.record(z.string(), z.unknown()),
    inputSchema: jsonSchema,
    outputSchema: jsonSchema.optional(),
    calls: z.number().describe("Since the server started."),
    failures: z.number(),
    p50: z.number().optional().describe("Milliseconds that half of the calls took at most."),
    p95: z.number().optional(),
  })
  .meta({ id: "Tool" })

export const callBody = z
  .object({
    input: z.unknown(),
    agentId: text.optional().describe("The agent that makes the call. An agent's token stands for that agent."),
    wait: z
      .number()
      .min(0)
      .max(300)
      .optional()
      .describe("Seconds to wait for a person before a ticket is answered (30)."),
    key: text.max(200).optional().describe("Idempotency key; the header Idempotency-Key means the same."),
    sessionId: text.max(200).optional(),
    taskId: text.max(200).optional(),
    intent: z.string().max(2000).optional().describe("The agent's own reason, shown to approvers as unverified."),
    timeoutMs: z.int().min(1).max(600_000).optional(),
  })
  .meta({ id: "CallBody" })

export const callResult = z
  .looseObject({
    callId: z.string(),
    toolName: z.string(),
    status: z.enum(["success", "error", "execution_rejected", "result_rejected", "not_found"]),
    success: z.boolean(),
    result: z.unknown().optional(),
    code: z.string().optional(),
    error: z.string().optional().describe("A full sentence that says what to do next."),
    startedAt: z.number(),
    durationMs: z.number().optional(),
  })
  .meta({ id: "CallResult" })

export const ticket = z
  .object({ callId: z.string(), state: z.enum(["waiting", "ready", "held"]), until: z.number() })
  .meta({ id: "Ticket" })

export const whyBody = z
  .object({
    agentId: text.optional(),
    tool: text,
    input: z.unknown().optional(),
    sessionId: text.optional(),
  })
  .meta({ id: "WhyBody" })

const checked = z.looseObject({
  check: z.string(),
  source: z.string(),
  code: z.string(),
  sentence: z.string(),
  verdict: z.enum(["allow", "ask", "deny", "pass"]).optional(),
  fix: z.string().optional(),
})

export const explanation = z
  .looseObject({
    agentId: z.string(),
    tool: z.string(),
    verdict: z.enum(["allow", "ask", "deny"]),
    code: z.string().optional(),
    reasons: z.array(checked),
    checks: z.array(checked),
    change: z.array(z.string()),
    rule: z
      .object({ allow: z.string(), agent: z.string(), touching: z.array(z.string()).optional() })
      .optional()
      .describe("The narrowest rule that would let it run unasked, where only the tool's level asks."),
    policy: z.string(),
  })
  .meta({ id: "Explanation" })

export type ToolInfo = z.infer<typeof toolInfo>
export type CallBody = z.infer<typeof callBody>
export type CallResult = z.infer<typeof callResult>
export type Ticket = z.infer<typeof ticket>
export type Explanation = z.infer<typeof explanation>
export type WhyBody = z.infer<typeof whyBody>
