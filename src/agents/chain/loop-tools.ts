import { counted } from "../../lib/counted.ts"
import { moneyText } from "../../lib/money-text.ts"
import { z } from "zod"
import type { Tool } from "../../core/tool.ts"
import { defineTool } from "../../schema/define-tool.ts"

export const budgetToolName = "agents:budget"
export const interruptedToolName = "agents:interrupted"
export const hopsToolName = "agents:hops"

const count = z.number().min(0)

/** Asks for more when a conversation has used up its budget. Whoever approves it may change how much more. */
function budgetTool(): Tool {
  return defineTool({
    name: budgetToolName,
    group: "interaction",
    description: "Let a conversation go on that has used up its budget of tokens, money or calls.",
    effect: "communicate",
    kind: "interactive",
    exposedAs: "loop",
    permission: { level: "sensitive" },
    input: () =>
      z.object({
        conversation: z.string().describe("Its id"),
        agent: z.string().optional().describe("The agent whose own budget it is; left out: that of the whole tree"),
        maxTokens: count.optional().describe("The budget so far, in tokens"),
        maxCost: count.optional().describe("The budget so far, in US dollars"),
        maxCalls: count.optional().describe("The budget so far, in calls"),
        moreTokens: count.optional().describe("How many tokens more it may use"),
        moreCost: count.optional().describe("How much more it may cost, in US dollars"),
        moreCalls: count.optional().describe("How many calls more it may make"),
      }),
    preview: ({ conversation, agent, maxTokens, maxCost, maxCalls, moreTokens, moreCost, moreCalls }) => {
      const whose = agent === undefined ? "The budget" : `Agent ${agent}'s own budget`
      const used = [
        budgetText(maxTokens, (tokens) => counted(tokens, "token"), moreTokens),
        budgetText(maxCost, moneyText, moreCost),
        budgetText(maxCalls, (calls) => counted(calls, "call"), moreCalls),
      ]
      return `${whose} is used up: ${used.flat().join(", ")}.\nIt is the conversation ${conversation}.`
    },
    execute: ({ moreTokens = 0, moreCost = 0, moreCalls = 0 }) => ({ moreTokens, moreCost, moreCalls }),
  })
}

function budgetText(most: number | undefined, say: (amount: number) => string, more = 0): string[] {
  return most === undefined ? [] : [`${say(most)} (${say(more)} more if you approve)`]
}

/** Asks whether agents that have written to each other very often may go on. */
function hopsTool(): Tool {
  return defineTool({
    name: hopsToolName,
    group: "interaction",
    description: "Let agents go on that have written to each other very often.",
    effect: "communicate",
    kind: "interactive",
    exposedAs: "loop",
    permission: { level: "sensitive" },
    input: () =>
      z.object({
        agent: z.string().describe("The agent that began it"),
        conversation: z.string().describe("The conversation that began it"),
        hops: count.describe("How many messages led to each other"),
        more: count.describe("How many more there may be"),
      }),
    preview: ({ agent, conversation, hops, more }) =>
      [
        `Agent ${agent} began a task in which ${hops} messages of agents have led to each other. They may be answering each other for ever; 'qm agents watch' shows who they are.`,
        `If you approve, there may be ${more} more. The conversation that began it: ${conversation}`,
      ].join("\n"),
    execute: ({ more }) => ({ more }),
  })
}

export const interruptedAnswers = { ran: "It has happened", notRun: "It has not happened", unknown: "I cannot tell" }

/** Asks a person what became of a call whose process was killed while it ran. */
function interruptedTool(): Tool {
  return defineTool({
    name: interruptedToolName,
    group: "interaction",
    description: "Ask a person whether an interrupted call had its effect.",
    effect: "none",
    kind: "interactive",
    exposedAs: "loop",
    permission: { level: "public" },
    input: () =>
      z.object({
        call: z.string().describe("The id of the call"),
        tool: z.string().describe("Its tool"),
        input: z.string().describe("Its input as JSON"),
        then: z.string().optional().describe("What follows from each answer"),
      }),
    question: ({ call, tool, input, then }) => ({
      question: `The process ended while ${tool} ran, so it is not known whether it had its effect. Please check. ${then === undefined ? "" : `${then} `}Its input: ${input}. Its record: qm audit show ${call}`,
      options: Object.values(interruptedAnswers),
    }),
    execute: (_input, { answer }) => ({ answer: String(answer) }),
  })
}

/**
 * The tools by which the loop asks people: as calls, so that the questions wait in the approval queue of every
 * interface, survive a restart and are in the audit log.
 */
export const loopTools: readonly Tool[] = [budgetTool(), hopsTool(), interruptedTool()]
