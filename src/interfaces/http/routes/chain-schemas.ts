import { z } from "zod"
import { message } from "../../../messages/message.ts"

/*
 * GET    /v1/chains?agentId&state&search&cursor&limit   conversations, those used last first
 * PATCH  /v1/chains/{id}                                chainChange → conversation
 * DELETE /v1/chains/{id}                                erases one that does not run (409 while it does)
 * GET    /v1/chains/{id}/view?before&limit              chainView
 * GET    /v1/chains/{id}/turns/{index}                  shownTurn, its texts whole
 * GET    /v1/chains/{id}/images/{turn}/{place}          the bytes
 * GET    /v1/chains/{id}/unfinished                     { unfinished?: unfinished }
 * GET    /v1/chains/{id}/side                           chainSide
 * POST   /v1/chains/{id}/messages                       messageBody → said (202)
 * DELETE /v1/chains/{id}/messages/{index}               takes a queued message back; 409 `already_read`
 * POST   /v1/chains/{id}/resume, …/stop                 also after an error: asks the model again
 * POST   /v1/chains/{id}/branch                         branchBody → branched (201)
 * POST   /v1/chains/{id}/files?path&overwrite           raw bytes → attached (201; 202 when a person must agree first)
 *
 * /v1/events has, besides what it had: `answer` (answerPiece) and `conversation` ({ conversationId }: its title, state or
 * settings changed, or it was erased).
 */

const text = z.string().min(1)
const time = z.number().describe("Milliseconds since 1970, by the server's clock.")

/** The state of a conversation, as people are shown it. */
const shownState = z
  .enum(["working", "waiting", "done", "stopped", "failed"])
  .describe("`waiting`: for a person, in it or in an agent below it. `stopped`: by a person, at a limit, or paused.")
  .meta({ id: "ShownState" })

export const conversation = z
  .looseObject({
    id: z.string(),
    agentId: z.string(),
    state: z.enum(["active", "waiting", "idle", "paused", "ended"]),
    startedBy: z.string(),
    length: z.number(),
    createdAt: z.number(),
    updatedAt: z.number(),
    title: z.string().describe("From its first message, unless a person renamed it."),
    preview: z.string().describe("The beginning of the last text in it."),
    shown: shownState,
    cost: z.number().describe("What it has used with the agents below it."),
    elsewhere: z
      .boolean()
      .describe(
        "Another process runs it, such as `qm chat`: only finished turns are told, and no text as it is written.",
      ),
    branchOf: z
      .object({ id: z.string(), index: z.number() })
      .optional()
      .describe("The conversation that it was branched from, and the turn from which it differs."),
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

/** A picture for a model that sees. Base64, at most 5,000,000 characters. */
export const picture = z.object({
  mimeType: z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]),
  data: z.base64().max(5_000_000),
})

export const chainBody = z
  .object({
    agentId: text.optional(),
    model: text.optional(),
    message: text.max(1_000_000),
    maxRounds: z.int().min(1).max(1000).optional(),
    maxCalls: z.int().min(1).max(10_000).optional(),
    tools: z.array(text).optional(),
    images: z.array(picture).max(4).optional(),
  })
  .meta({ id: "ChainBody" })

export const chainQuery = z.object({
  agentId: text.optional(),
  state: shownState.optional(),
  mine: z.enum(["true", "false"]).optional().describe("Only those that the caller began."),
  search: z.string().max(200).optional().describe("A text in its title, its last text or the name of its agent."),
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(100).optional().describe("50 when left out."),
})

/** A person's change of a conversation. The model counts from the next message on. */
export const chainChange = z
  .object({ title: text.max(200).optional(), model: text.optional() })
  .meta({ id: "ChainChange" })

export const messageBody = z
  .object({ message: text.max(1_000_000), images: z.array(picture).max(4).optional() })
  .meta({ id: "ChainMessageBody" })

export const said = conversation
  .extend({
    index: z.number().describe("The turn of the message."),
    queued: z.boolean().describe("True while a run works: it is read after the tool calls that run now."),
  })
  .meta({ id: "ChainMessage" })

export const branchBody = z
  .object({
    message: text.max(1_000_000),
    index: z
      .int()
      .min(0)
      .optional()
      .describe("The message that it replaces: the last one that began a run if left out."),
  })
  .meta({ id: "ChainBranchBody" })

const stayed = z.object({ callId: z.string(), tool: z.string(), title: message, ok: z.boolean() })

export const branched = conversation
  .extend({
    stays: z
      .array(stayed)
      .describe("Calls that ran after the place where the branch begins, and change things. They stay done."),
  })
  .meta({ id: "ChainBranch" })

/** An image in a turn: GET /v1/chains/{id}/images/{turn}/{place}. */
const imageRef = z.object({ mimeType: z.string(), href: z.string() })

/** A tool call as a row of a conversation. `state`, `code`, `asked`, `held` and `ran` give the seven ticks, as in the audit log. */
export const callRow = z
  .object({
    place: z.number().describe("Its place in the answer."),
    callId: z.string().optional().describe("Left out for a call that was answered without being made."),
    tool: z.string(),
    title: message.describe("What it touches, as the title of its card says it."),
    summary: z.string().describe("One line: the command, the path, the address."),
    intent: z.string().optional().describe("The agent's own words, which nobody has verified."),
    state: z.enum(["running", "waiting", "held", "ended"]),
    status: z.string().optional(),
    code: z.string().optional(),
    asked: z.boolean(),
    held: z.boolean(),
    ran: z.boolean().optional(),
    by: z.string().optional().describe("The name of who answered last."),
    startedAt: time.optional(),
    durationMs: z.number().optional(),
    waitedMs: z.number().optional(),
    card: z.string().optional().describe("While it waits or is held: the id of its card, GET /v1/approvals/{id}."),
    input: z.string().describe("Its input as JSON, cut at 10,000 characters. What is secret is masked."),
    result: z.string().optional().describe("What the model was told, cut at 10,000 characters."),
    image: imageRef.optional(),
  })
  .meta({ id: "ChainCall" })

const cut = z
  .number()
  .optional()
  .describe("How many characters the whole text has, where it was cut: GET …/turns/{index}.")

/** A turn as a page shows it. */
export const shownTurn = z
  .discriminatedUnion("kind", [
    z.object({
      kind: z.literal("message"),
      index: z.number(),
      at: time,
      by: z.string(),
      name: z.string(),
      from: z.enum(["person", "agent", "hint"]).describe("`hint`: Quartermaster's own words to the model."),
      text: z.string(),
      cut,
      begins: z.boolean().describe("Whether it begins a run. Only such a message can be edited as a branch."),
      images: z.array(imageRef),
    }),
    z.object({
      kind: z.literal("answer"),
      index: z.number(),
      at: time,
      model: z.string(),
      text: z.string(),
      reasoning: z.string(),
      cut,
      finishReason: z.string(),
      asked: z.number().describe("The `turn` of the pieces in which it came."),
      interrupted: z.boolean().describe("It was asked anew: its process had ended in the middle of it."),
      cost: z.number().optional(),
      calls: z.array(callRow),
    }),
    z.object({
      kind: z.literal("note"),
      index: z.number(),
      at: time,
      note: z
        .enum([
          "stopped",
          "failed",
          "limit",
          "completed",
          "retried",
          "summary",
          "references",
          "reflection",
          "budget",
          "hops",
        ])
        .describe("What happened. `completed` ends a run whose agent has answered."),
      by: z.string().optional(),
      name: z.string().optional(),
      text: z.string().describe("The error, the summary, the decision; empty where there is nothing to say."),
    }),
  ])
  .meta({ id: "ShownTurn" })

/** The answer that is being written. Its turn has this index once it is finished. */
export const unfinished = z
  .object({
    turn: z.number(),
    attempt: z.number().describe("Grows when the turn is asked anew: what came of an earlier attempt does not count."),
    interrupted: z
      .boolean()
      .describe("An earlier attempt was broken off: by its process's end, or because the model failed."),
    text: z.string(),
    reasoning: z.string(),
  })
  .meta({ id: "UnfinishedAnswer" })

/**
 * A piece of the answer that is being written, on the stream /v1/events as `answer`. What a client has of this turn, attempt
 * and part is cut at `offset` (UTF-16 units) and the piece comes after it; a client that has less asks GET …/unfinished. A
 * stream that begins gives everything so far, from offset 0.
 */
export const answerPiece = z
  .object({
    conversationId: z.string(),
    turn: z.number(),
    attempt: z.number(),
    interrupted: z.boolean(),
    part: z.enum(["text", "reasoning"]),
    offset: z.number(),
    text: z.string().describe("Empty when the turn has just begun."),
  })
  .meta({ id: "AnswerPiece" })

/** An item that waits for a person and is no call of the turns: a call of an agent below, or the conversation's own. */
const waitingBelow = z.object({
  card: z.string(),
  agentId: z.string(),
  task: z.string().describe("The beginning of what it was asked to do."),
  depth: z.number().describe("0: the conversation itself, for a budget or a file that a person attached."),
  tool: z.string(),
  conversationId: z.string(),
  at: time,
})

export const chainView = z
  .object({
    conversation,
    items: z.array(shownTurn).describe("Oldest first: the last `limit` turns, or those before the cursor."),
    before: z.string().optional().describe("The cursor of the turns before these. There is none at the beginning."),
    length: z.number().describe("How many turns there are."),
    unfinished: unfinished.optional(),
    queued: z
      .array(z.object({ index: z.number(), text: z.string(), by: z.string(), at: time }))
      .describe("Messages that the model has not read yet. DELETE …/messages/{index} takes one back."),
    waitingBelow: z.array(waitingBelow),
    branches: z.array(z.object({ id: z.string(), title: z.string(), index: z.number() })),
    may: z
      .object({
        say: z.boolean(),
        manage: z.boolean(),
        whyNot: z
          .enum(["scope", "gone", "managers"])
          .optional()
          .describe("Why nothing can be said. `gone`: its agent was terminated."),
      })
      .describe("What the caller may do here. `manage`: rename, branch, erase, change model and mode."),
  })
  .meta({ id: "ChainView" })

const used = z.object({ used: z.number(), max: z.number().optional() })

const changedFile = z
  .object({
    path: z.string(),
    added: z.number(),
    removed: z.number(),
    diff: z.string().describe("Unified, cut at 100,000 characters. Empty where it is not known or not text."),
    deleted: z.boolean(),
    note: z
      .enum(["single_edits", "not_known"])
      .optional()
      .describe("`single_edits`: its edits one after the other. `not_known`: it is not text, or was written over."),
  })
  .meta({ id: "ChangedFile" })

export const chainSide = z
  .object({
    agentId: z.string(),
    role: z.string(),
    department: z.string().optional(),
    taskId: z.string().optional(),
    model: z.object({
      name: z.string(),
      seesImages: z.boolean(),
      next: z.string().describe("The one of the next message."),
    }),
    models: z.array(z.object({ name: z.string(), seesImages: z.boolean() })).describe("Those to choose from."),
    mode: z.enum(["plan", "ask", "edits"]).describe("Changed by POST /v1/agents/{id}/mode with this session."),
    rounds: used,
    budget: z.object({ cost: used, tokens: used, calls: used, inputTokens: z.number(), outputTokens: z.number() }),
    context: z.object({
      usedTokens: z.number(),
      maxTokens: z.number(),
      status: z.enum(["normal", "warning", "critical", "exceeded"]),
      thresholds: z.object({ warning: z.number(), critical: z.number(), exceeded: z.number() }),
    }),
    below: z.array(
      z.object({
        agentId: z.string(),
        conversationId: z.string(),
        task: z.string(),
        depth: z.number(),
        doing: z.enum(["working", "waiting", "delegated", "answered", "failed"]),
        tools: z.array(z.string()),
        cost: z.number(),
        since: time,
      }),
    ),
    changed: z.array(changedFile),
  })
  .meta({ id: "ChainSide" })

/** The raw body is the file. */
export const fileQuery = z.object({
  path: text.max(4096).describe("Where it goes, relative to the workspace."),
  overwrite: z.enum(["true", "false"]).optional().describe("Only then an existing file is replaced."),
})

export const attached = z
  .object({
    callId: z.string(),
    path: z.string(),
    bytes: z.number(),
    waits: z.boolean().describe("A person must agree first: its card has the id of the call."),
  })
  .meta({ id: "AttachedFile" })

export type CallRowJson = z.infer<typeof callRow>
export type ShownTurnJson = z.infer<typeof shownTurn>
export type UnfinishedJson = z.infer<typeof unfinished>
export type AnswerPieceJson = z.infer<typeof answerPiece>
export type ChainViewJson = z.infer<typeof chainView>
export type ChainSideJson = z.infer<typeof chainSide>
export type SaidJson = z.infer<typeof said>
export type BranchedJson = z.infer<typeof branched>
export type AttachedJson = z.infer<typeof attached>
export type ChainChange = z.infer<typeof chainChange>
export type ConversationJson = z.infer<typeof conversation>
export type TurnJson = z.infer<typeof turn>
export type AgentEventJson = z.infer<typeof agentEvent>
export type ChainEventsJson = z.infer<typeof chainEvents>
export type ConversationNowJson = z.infer<typeof conversationNow>
export type ChainBody = z.infer<typeof chainBody>
