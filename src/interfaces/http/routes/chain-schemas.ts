import { z } from "zod"

const text = z.string().min(1)

export const conversation = z
  .looseObject({
    id: z.string(),
    agentId: z.string(),
    state: z.enum(["active", "waiting", "idle", "paused", "ended"]),
    startedBy: z.string(),
    length: z.number(),
    createdAt: z.number(),
    updatedAt: z.number(),
  })
  .meta({ id: "Conversation" })

export const conversationNow = conversation
  .extend({
    content: z.string().describe("The last answer of its model."),
    awaits: z.array(z.string()).describe("The agents that it asked and that have not answered yet."),
  })
  .meta({ id: "ConversationNow" })

export const turn = z
  .looseObject({ index: z.number(), kind: z.string(), at: z.number(), body: z.unknown() })
  .meta({ id: "Turn" })

const spent = z.object({
  rounds: z.number(),
  calls: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cost: z.number().describe("In the currency of the configured prices."),
})

export const agentEvent = z
  .object({
    type: z
      .enum(["woken", "calling", "waiting", "delegated", "answered", "failed"])
      .describe(
        "`waiting` is told only while the call waits. `delegated`: it answers when those it asked have answered.",
      ),
    agentId: z.string(),
    conversationId: z.string().describe("The agent's own conversation."),
    depth: z.number().describe("1: asked by the conversation's agent itself; 2: by one of those; and so on."),
    at: z.number(),
    tools: z.array(z.string()).optional().describe("For `calling` and `waiting`."),
    callId: z.string().optional().describe("For `waiting`."),
    status: z.string().optional().describe("For `answered` and `failed`: completed, limit, error or aborted."),
    spent: spent.describe("What the agent's conversation has used by now."),
  })
  .meta({ id: "AgentEvent" })

export const chainEvents = z
  .object({
    items: z.array(turn),
    agents: z
      .array(agentEvent)
      .describe("What the agents did that it gave work to, as far as the caller may see them."),
    state: z.string(),
    cursor: z.string().describe("What comes after this answer: send it with the next request."),
  })
  .meta({ id: "ChainEvents" })

export const chainBody = z
  .object({
    agentId: text.optional(),
    model: text.optional(),
    message: text.max(1_000_000),
    maxRounds: z.int().min(1).max(1000).optional(),
    maxCalls: z.int().min(1).max(10_000).optional(),
    tools: z.array(text).optional(),
  })
  .meta({ id: "ChainBody" })

export type ConversationJson = z.infer<typeof conversation>
export type TurnJson = z.infer<typeof turn>
export type AgentEventJson = z.infer<typeof agentEvent>
export type ChainEventsJson = z.infer<typeof chainEvents>
export type ConversationNowJson = z.infer<typeof conversationNow>
export type ChainBody = z.infer<typeof chainBody>
