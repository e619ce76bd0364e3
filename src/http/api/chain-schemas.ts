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

export const turn = z
  .looseObject({ index: z.number(), kind: z.string(), at: z.number(), body: z.unknown() })
  .meta({ id: "Turn" })

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
export type ChainBody = z.infer<typeof chainBody>
