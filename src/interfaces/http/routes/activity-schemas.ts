import { z } from "zod"

/*
 * GET /v1/activity?since&until&agentId&tool&verdict&limit   activity: what agents do now and did, as lanes
 *
 * Live by /v1/events: `call` when a call waits, is answered or is held, `audit` when one has ended. After either:
 * GET /v1/activity?since=<the end of the newest span that is shown>.
 */

const time = z.number().describe("Milliseconds since 1970, by the server's clock.")

export const spanVerdict = z
  .enum(["runs", "waits", "held", "ran", "failed", "not_approved", "refused"])
  .describe("The first three are of calls that have not ended.")

export const span = z
  .object({
    callId: z.string(),
    tool: z.string(),
    summary: z.string(),
    verdict: spanVerdict,
    code: z.string().optional(),
    from: time.describe("When the call was made."),
    to: time.optional().describe("When it ended. Left out while it goes on."),
    waits: z.array(z.object({ from: time, to: time.optional() })).describe("When it waited for people."),
    by: z.string().optional().describe("Who answered last."),
    parentCallId: z.string().optional(),
  })
  .meta({ id: "ActivitySpan" })

export const lane = z
  .object({
    agentId: z.string(),
    role: z.string().optional(),
    live: z.boolean().describe("False: the agent has ended."),
    spans: z.array(span).describe("Oldest first."),
  })
  .meta({ id: "ActivityLane" })

export const activity = z
  .object({
    now: time,
    since: time,
    until: time,
    lanes: z.array(lane).describe("By agent, those that did something last first."),
    cut: time.optional().describe("There were more calls than `limit`: nothing from before this time is there."),
  })
  .meta({ id: "Activity" })

export const activityQuery = z.object({
  since: z.coerce.number().min(0).optional().describe("An hour ago when left out; at most a day before `until`."),
  until: z.coerce.number().min(0).optional(),
  agentId: z.string().min(1).optional(),
  tool: z.string().min(1).optional(),
  verdict: spanVerdict.optional(),
  limit: z.coerce.number().int().min(1).max(2000).optional().describe("500 when left out."),
})

export type SpanJson = z.infer<typeof span>
export type LaneJson = z.infer<typeof lane>
export type ActivityJson = z.infer<typeof activity>
