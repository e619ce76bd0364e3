import { z } from "zod"
import { message } from "../../../messages/message.ts"
import { card } from "../../../approvals/card/schema.ts"

/*
 * The shapes of the HTTP API. They validate requests, and the OpenAPI document is made from them. `quartermaster/client`
 * and the console take their types from here.
 */

const time = z.number().describe("Milliseconds since 1970, by the server's clock.")
const id = z.string().min(1)

const values = z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())]))

export const scope = z.enum(["read", "call", "approve", "manage"]).meta({ id: "Scope" })

const did = z.enum(["approved", "rejected", "answered", "edited", "released", "withheld"])

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number(),
    detail: z.string().describe("A sentence that says what to do next."),
    code: z.string().optional().describe("The same for programs and translations."),
    params: values.optional().describe("The values in the sentence."),
    by: z.string().optional().describe("Who was first, when somebody else has answered."),
    name: z.string().optional().describe("Their name."),
    did: did.optional(),
    current: z.unknown().optional().describe("What it is now, where it changed since the caller read it (409)."),
    errors: z.array(z.object({ path: z.string(), sentence: z.string() })).optional(),
  })
  .meta({ id: "Problem" })

export const me = z
  .object({
    kind: z.enum(["person", "agent"]),
    id,
    name: z.string(),
    roles: z.array(z.string()).describe("The person's roles, for rules that name approvers."),
    scopes: z.array(scope),
    now: time,
    version: z.string(),
    workspace: z.string(),
    sample: z.boolean().describe("Whether this is the sample organisation that the first start made."),
    pin: z.boolean().describe("Whether a PIN is set for answers from links."),
    frozen: z.array(
      z.object({ agentId: z.string().optional(), by: z.string(), because: z.string().optional(), at: time }),
    ),
    modes: z
      .array(
        z.object({
          mode: z.enum(["plan", "edits"]),
          agentId: z.string(),
          sessionId: z.string().optional(),
          by: z.string(),
          at: time,
          until: time.optional(),
        }),
      )
      .describe("The modes plan and edits that hold now. A plan holds in all sessions of its agent."),
    waiting: z.number().describe("How many items wait for people."),
  })
  .meta({ id: "Me" })

export const standing = z
  .object({
    state: z
      .enum(["waiting", "answered", "expired", "ended", "unknown"])
      .describe("`ended` is a call that was over before anybody answered, `unknown` one that never was."),
    card: card.optional().describe("While it waits."),
    by: z.string().optional().describe("Who answered; where several people agreed, all of them."),
    name: z.string().optional().describe("Their name."),
    did: did.optional(),
  })
  .meta({ id: "Standing" })

export const inbox = z
  .object({
    now: time,
    items: z.array(card),
    total: z.number().describe("How many items wait."),
    cursor: z.string().optional().describe("Where the next page begins, if there is one."),
  })
  .meta({ id: "Inbox" })

const remember = {
  remember: z.enum(["input-session", "tool-session", "task", "minutes", "tool-always"]).optional(),
  minutes: z.int().min(1).max(480).optional(),
}

/** A person's answer. The revision is the one that they saw. */
export const answerBody = z
  .object({
    revision: z.int(),
    answer: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("approve"), note: z.string().max(2000).optional(), ...remember }),
      z.object({ kind: z.literal("edit"), input: z.unknown() }),
      z.object({ kind: z.literal("reject"), reason: z.string().max(2000).optional(), ...remember }),
      z.object({ kind: z.literal("release"), redact: z.array(z.string()).optional(), replace: z.unknown().optional() }),
      z.object({ kind: z.literal("withhold"), reason: z.string().max(2000).optional() }),
      z.object({
        kind: z.literal("answer"),
        value: z.union([z.string(), z.array(z.string()), z.record(z.string(), z.unknown())]),
      }),
      z.object({ kind: z.literal("approve-with-rule"), expiresAt: time, note: z.string().max(2000).optional() }),
    ]),
  })
  .meta({ id: "AnswerBody" })

export const answered = z
  .object({
    done: z.boolean().describe("False while more people must agree, or an edit is checked."),
    message,
    grantId: z.string().optional().describe("What was remembered; DELETE /v1/grants/{id} undoes it."),
  })
  .meta({ id: "Answered" })

export const answerLink = z
  .object({
    url: z.string().describe("Whoever opens it can answer as the person. It is shown once."),
    callId: id,
    revision: z.number().describe("The only revision that it answers."),
    person: id,
    risk: z.enum(["high", "medium", "low"]).describe("A yes: low from the link alone, medium with a PIN, high never."),
    expiresAt: time,
  })
  .meta({ id: "AnswerLink" })

/** A call that was refused, for the lane of refused calls. */
export const refused = z
  .object({
    callId: id,
    at: time,
    agentId: z.string(),
    tool: z.string(),
    summary: z.string(),
    code: z.string(),
    reasons: z.array(message),
    change: z.array(z.string()).describe("What a person could do: commands, lines of YAML, or a sentence."),
    draft: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("A rule that would let it run unasked, where only its level would ask by now. Nothing lifts a deny."),
  })
  .meta({ id: "Refused" })

export const suggestion = z
  .object({
    rule: z.object({ allow: z.string(), agent: z.string(), touching: z.array(z.string()), because: z.string() }),
    approvals: z.number(),
    people: z.array(z.string()),
    examples: z.array(z.string()),
    refusedCompared: z.number(),
  })
  .meta({ id: "Suggestion" })

export const digest = z
  .object({ since: time, now: time, ran: z.number(), waited: z.number(), refused: z.number(), expired: z.number() })
  .meta({ id: "Digest" })
export type Problem = z.infer<typeof problem>
export type Me = z.infer<typeof me>
export type Standing = z.infer<typeof standing>
export type Inbox = z.infer<typeof inbox>
export type AnswerBody = z.infer<typeof answerBody>
export type Answered = z.infer<typeof answered>
export type AnswerLink = z.infer<typeof answerLink>
export type Refused = z.infer<typeof refused>
export type Suggestion = z.infer<typeof suggestion>
export type Digest = z.infer<typeof digest>
