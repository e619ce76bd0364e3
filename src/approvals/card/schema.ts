import { z } from "zod"
import { message } from "../../messages/message.ts"

const time = z.number().describe("Milliseconds since 1970, by the server's clock.")
const id = z.string().min(1)

export const touch = z
  .object({
    kind: z.enum(["read", "write", "delete", "command", "host", "database"]),
    what: z.string(),
    reachedBefore: z.boolean().optional().describe("For a host: whether a call has reached it before."),
    files: z.number().optional().describe("For what is written or deleted: how many files there are now, if counted."),
    bytes: z.number().optional().describe("How many bytes these files have."),
  })
  .meta({ id: "Touch" })

/** A command in its parts, a diff, a request, or any other preview. */
export const preview = z
  .discriminatedUnion("kind", [
    z.object({
      kind: z.literal("command"),
      command: z.string(),
      cwd: z.string().optional(),
      network: z.boolean(),
      details: z.array(message).describe("How it runs, a line each: variables, time limit, sandbox."),
      parts: z.array(
        z.object({
          operator: z.string().describe("What joins it to the part before: &&, ||, ;, |, or nothing."),
          text: z.string(),
          mark: z.enum(["none", "ask", "deny"]),
          notes: z.array(message),
        }),
      ),
    }),
    z.object({
      kind: z.literal("diff"),
      files: z.array(
        z.object({ path: z.string(), diff: z.string().describe("Unified."), added: z.number(), removed: z.number() }),
      ),
    }),
    z.object({
      kind: z.literal("request"),
      method: z.string(),
      url: z.string(),
      headers: z.record(z.string(), z.string()).optional(),
      body: z.string().optional(),
    }),
    z.object({ kind: z.literal("image"), mimeType: z.string(), data: z.string().describe("Base64.") }),
    z.object({ kind: z.literal("text"), text: z.string() }),
  ])
  .meta({ id: "Preview" })

export const reason = z
  .object({
    check: z.string(),
    source: z.string(),
    message,
    binding: z.boolean().describe("Asked every time: no rule and no remembered answer lifts it."),
  })
  .meta({ id: "Reason" })

export const question = z
  .object({
    question: z.string(),
    options: z.array(z.string()).optional(),
    multiple: z.boolean().optional(),
    form: z.record(z.string(), z.unknown()).optional().describe("A JSON Schema of the object to fill in."),
    url: z.string().optional(),
  })
  .meta({ id: "Question" })

/** Everything that an approver is shown. The server computes it; clients only lay it out. */
export const card = z
  .object({
    callId: id,
    kind: z.enum(["call", "result", "question"]),
    agent: z.object({
      id,
      role: z.string(),
      department: z.string().optional(),
      roleMadeBy: z.string().optional().describe("The agent that made the role, where no person did."),
      ancestors: z.array(z.string()).describe("The agents above it, nearest first."),
    }),
    tool: z.string(),
    toolDescription: z.string(),
    level: z.enum(["public", "moderate", "sensitive"]),
    effect: z.string().optional(),
    risk: z.object({
      band: z.enum(["high", "medium", "low"]),
      destructive: z.boolean().describe("Approving wants a hold."),
      tags: z.array(message).describe("Why it has this band, in one or two words each."),
    }),
    title: message,
    summary: z.string().describe("One line for lists: the command, the path, the address or the question."),
    intent: z.string().optional().describe("The agent's own words, which nobody has verified."),
    preview: preview.optional(),
    reasons: z.array(reason),
    touches: z.array(touch),
    proved: z.boolean().describe("Whether the touches are certain to be complete."),
    files: z.number().describe("How many files it touches."),
    bytes: z.number().optional().describe("How many bytes it writes, sends or deletes, where that is known."),
    input: z.unknown(),
    inputSchema: z.record(z.string(), z.unknown()).optional(),
    result: z
      .object({ success: z.boolean(), value: z.unknown(), text: z.string(), error: z.string().optional() })
      .optional()
      .describe("For a held result."),
    question: question.optional(),
    revision: z.number(),
    editedBy: z.string().optional(),
    note: z.string().optional().describe("Why approval is asked for again."),
    again: z.array(message).optional().describe("The same in its parts, for translation."),
    votes: z.array(z.object({ by: z.string(), at: time, note: z.string().optional() })),
    approvers: z.array(z.object({ role: z.string().optional(), count: z.number() })),
    mayAnswer: z.boolean().describe("Whether the answer of whoever asks would count."),
    remember: z.array(
      z.object({ scope: z.enum(["input-session", "tool-session", "task", "minutes", "tool-always"]), message }),
    ),
    rememberNothing: message.optional().describe("Why a yes is not remembered."),
    rule: z
      .object({ allow: z.string(), agent: z.string(), touching: z.array(z.string()), message })
      .optional()
      .describe("The rule that a person who may manage can add with the approval."),
    alike: z.string().describe("Cards with the same value are of the same kind."),
    taskId: z.string().optional(),
    userId: z.string().optional(),
    sessionId: z.string(),
    createdAt: time,
    until: time.describe("When nobody's answer counts any more."),
    isShortened: z
      .boolean()
      .optional()
      .describe("In lists: its input, preview and result are long and left out. The card itself has them."),
  })
  .meta({ id: "Card" })

export type Touch = z.infer<typeof touch>

export type Preview = z.infer<typeof preview>

export type Card = z.infer<typeof card>
