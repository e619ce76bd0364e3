import { moneyText } from "../../lib/money-text.ts"
import { counted } from "../../lib/counted.ts"
import type { Spent } from "../../core/conversation.ts"
import type { Ticket } from "../../core/result.ts"
import { askForMore } from "./ask-for-more.ts"
import { budgetToolName } from "./loop-tools.ts"
import type { TurnLog } from "./log.ts"
import type { CallContext } from "./call-context.ts"
import type { BudgetTurn, ChainTurn } from "../context/turns.ts"

/** Limits of usage. */
export interface Budget {
  maxTokens?: number
  maxCost?: number
  maxCalls?: number
}

export interface Budgets {
  /** The budget of a conversation together with those that it began. */
  tree: Budget
  /** The budget of the agent of one of them. */
  agent: Budget
}

type Stop = { waiting: Ticket } | { usedUp: string }

/**
 * Asks a person for more when a budget is used up. Returns undefined when the run may go on; else the ticket of the
 * question that waits, or a sentence when nobody gave more.
 */
export async function checkBudgets(
  { tree, agent }: Budgets,
  log: TurnLog,
  calls: CallContext,
): Promise<Stop | undefined> {
  const stopped = isUnlimited(agent) ? undefined : await checkBudget(agent, ownAccount(log, calls), log, calls)
  return stopped ?? (isUnlimited(tree) ? undefined : await checkBudget(tree, treeAccount(log), log, calls))
}

function isUnlimited({ maxTokens, maxCost, maxCalls }: Budget): boolean {
  return maxTokens === undefined && maxCost === undefined && maxCalls === undefined
}

/** Whose budget it is, and where the answers of people are. */
interface Account {
  of: "tree" | "agent"
  id: string
  agentId: string
  spent(): Spent | Promise<Spent>
  turns(): readonly ChainTurn[] | Promise<readonly ChainTurn[]>
  post(body: BudgetTurn): Promise<unknown>
}

function treeAccount({ root }: TurnLog): Account {
  return {
    of: "tree",
    id: root.id,
    agentId: root.agentId,
    spent: () => root.spent(),
    turns: () => root.turns(),
    post: (body) => root.post({ kind: "budget", body }),
  }
}

function ownAccount(log: TurnLog, { request }: CallContext): Account {
  return {
    of: "agent",
    id: log.id,
    agentId: request.agentId,
    spent: () => log.spent,
    turns: () => log.turns,
    post: (body) => log.append([{ kind: "budget", body }]),
  }
}

async function checkBudget(
  budget: Budget,
  account: Account,
  log: TurnLog,
  calls: CallContext,
): Promise<Stop | undefined> {
  const { of, id, agentId } = account
  const { isStored } = log
  const spent = await account.spent()
  if (isWithin(budget, spent)) return undefined
  const given = answersOf(await account.turns(), of)
  const now = extended(budget, given)
  if (isWithin(now, spent)) return undefined
  const more = { moreTokens: budget.maxTokens, moreCost: budget.maxCost, moreCalls: budget.maxCalls }
  const whose = of === "tree" ? "the conversation" : `agent ${agentId}`
  const keys = of === "tree" ? treeKeys(budget) : "agents.perAgent"
  const sentence = `The budget of ${whose} is used up (${keys}: ${budgetText(now)})`
  const asked = await askForMore(
    {
      conversation: { id, agentId },
      tool: budgetToolName,
      input: { conversation: id, ...(of === "agent" && { agent: agentId }), ...now, ...more },
      key: isStored ? `${id}/budget/${of === "tree" ? "" : "agent/"}${given.length}` : undefined,
    },
    calls,
  )
  if ("waiting" in asked) return asked
  if (calls.request.signal?.aborted === true) return undefined
  if ("failed" in asked) return { usedUp: `${sentence}, and nobody could be asked for more: ${asked.failed}` }
  const isTakenBack = "takenBack" in asked
  const answer: BudgetTurn = {
    callId: isTakenBack ? asked.takenBack : asked.callId,
    ...(of === "agent" && { of }),
    ...(isTakenBack ? { moreTokens: 0, moreCost: 0 } : moreFrom(now, spent, asked.result as Partial<BudgetTurn>)),
  }
  await account.post(answer)
  if (isTakenBack) return checkBudget(budget, account, log, calls)
  if (isWithin(extended(now, [answer]), spent)) return undefined
  return { usedUp: `${sentence}, and nobody gave it more.` }
}

/** Returns the budget after a person's addition to the present usage: one request may exceed the whole budget. */
function moreFrom(
  { maxTokens = Infinity, maxCost = Infinity, maxCalls = Infinity }: Budget,
  spent: Spent,
  { moreTokens = 0, moreCost = 0, moreCalls = 0 }: Partial<BudgetTurn> = {},
): Pick<BudgetTurn, "moreTokens" | "moreCost" | "moreCalls"> {
  const beyond = (used: number, most: number, more: number) => (more === 0 ? 0 : more + Math.max(0, used - most))
  return {
    moreTokens: beyond(spent.inputTokens + spent.outputTokens, maxTokens, moreTokens),
    moreCost: beyond(spent.cost, maxCost, moreCost),
    moreCalls: beyond(spent.calls, maxCalls, moreCalls),
  }
}

function isWithin({ maxTokens = Infinity, maxCost = Infinity, maxCalls = Infinity }: Budget, spent: Spent): boolean {
  return spent.inputTokens + spent.outputTokens < maxTokens && spent.cost < maxCost && spent.calls < maxCalls
}

/** Returns the answers of people, each question once. */
function answersOf(turns: readonly ChainTurn[], of: Account["of"]): BudgetTurn[] {
  const answers = turns.flatMap((turn) =>
    turn.kind === "budget" && (turn.body.of ?? "tree") === of ? [turn.body] : [],
  )
  return [...new Map(answers.map((answer) => [answer.callId, answer])).values()]
}

/** The budget of a tree with what people gave in the turns at its top. */
export function extendedBudget(budget: Budget, turns: readonly ChainTurn[]): Budget {
  return extended(budget, answersOf(turns, "tree"))
}

function extended({ maxTokens, maxCost, maxCalls }: Budget, given: readonly BudgetTurn[]): Budget {
  const plus = (most: number | undefined, more: (answer: BudgetTurn) => number | undefined) =>
    most && given.reduce((sum, answer) => sum + (more(answer) ?? 0), most)
  return {
    maxTokens: plus(maxTokens, ({ moreTokens }) => moreTokens),
    maxCost: plus(maxCost, ({ moreCost }) => moreCost),
    maxCalls: plus(maxCalls, ({ moreCalls }) => moreCalls),
  }
}

/** The configuration keys of the parts that are limited. */
function treeKeys({ maxTokens, maxCost, maxCalls }: Budget): string {
  const names = Object.entries({ maxTokens, maxCost, maxTreeCalls: maxCalls })
  return names.flatMap(([name, value]) => (value === undefined ? [] : [`agents.${name}`])).join(", ")
}

/** As a person reads it. */
export function budgetText({ maxTokens, maxCost, maxCalls }: Budget): string {
  return [
    ...(maxTokens === undefined ? [] : [counted(maxTokens, "token")]),
    ...(maxCost === undefined ? [] : [moneyText(maxCost)]),
    ...(maxCalls === undefined ? [] : [counted(maxCalls, "call")]),
  ].join(", ")
}
