import { z } from "zod"

export const auditRow = z
  .object({
    callId: z.string(),
    at: z.number(),
    agentId: z.string(),
    tool: z.string(),
    status: z.string(),
    code: z.string().optional(),
    durationMs: z.number(),
    summary: z.string().describe("One line about its input, as it was recorded: the path, the command, the address."),
    ran: z.boolean().describe("False when it ended before the tool ran."),
    asked: z.boolean().describe("Whether a person was asked before it ran."),
    held: z.boolean().describe("Whether a person had to release the result."),
    by: z.string().optional().describe("Who answered last."),
    waitedMs: z.number().optional().describe("How long it waited for people."),
  })
  .meta({ id: "AuditRow" })

export const auditEntry = z
  .looseObject({
    kind: z.enum(["start", "end", "asked", "answered", "try", "late", "held", "released", "withheld", "note"]),
    callId: z.string(),
    at: z.number(),
    agentId: z.string().optional(),
    tool: z.string().optional(),
    by: z.string().optional(),
    text: z.string().optional(),
  })
  .meta({ id: "AuditEntry" })

const waited = z.object({ name: z.string(), count: z.number(), p50: z.number() })

export const charts = z
  .object({
    since: z.number(),
    until: z.number(),
    hours: z.array(
      z.object({
        at: z.number().describe("When the hour begins."),
        ran: z.number(),
        failed: z.number(),
        notApproved: z.number(),
        refused: z.number(),
        p50: z.number().nullable().describe("Milliseconds that half of the calls took at most, to two digits."),
        p95: z.number().nullable(),
        waited: z.number().describe("How many answers of people came."),
        waitP50: z.number().nullable().describe("Milliseconds that half of them waited at most."),
        waitP95: z.number().nullable(),
      }),
    ),
    total: z
      .object({ p50: z.number().nullable(), p95: z.number().nullable(), waitP50: z.number().nullable() })
      .describe("The same over the whole time."),
    waits: z
      .array(z.object({ upTo: z.number().nullable(), count: z.number() }))
      .describe("How many answers of people came within so many milliseconds; null is longer."),
    waitsBy: z
      .object({ tools: z.array(waited), agents: z.array(waited) })
      .describe("The tools and the agents whose calls waited most often, and how long half of them waited at most."),
    expired: z.number().describe("How many calls nobody answered in time."),
    tools: z.array(z.object({ tool: z.string(), count: z.number(), failures: z.number(), averageMs: z.number() })),
  })
  .meta({ id: "Charts" })

export type AuditRowJson = z.infer<typeof auditRow>
export type AuditEntryJson = z.infer<typeof auditEntry>
export type Charts = z.infer<typeof charts>
