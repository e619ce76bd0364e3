import { chainTurns, currentRun } from "../../../agents/context/turns.ts"
import type { AgentEvent } from "../../../agents/chain/agent-event.ts"
import { rememberedOf } from "../../../agents/chain/remembered.ts"
import type { Caller } from "./caller.ts"
import { listed } from "./chain-json.ts"
import { maySeeAgent } from "./chain-news.ts"
import { taskOf } from "./chain-view.ts"
import type { ChainSideJson } from "./chain-schemas.ts"
import type { Api } from "./endpoint.ts"

/** Returns the side panel of a conversation: agents and models, budget, agents below it, changed files. */
export async function chainSide(api: Api, caller: Caller, id: string): Promise<ChainSideJson> {
  const { conversations, org, models } = api.app
  const found = await listed(api, caller, id)
  const { agentId } = found
  const turns = chainTurns(await conversations.turns(id))
  const { options } = rememberedOf(found)
  const model = modelNow(api, found)
  const [budget, context, below, changed] = await Promise.all([
    conversations.budgetOf(found),
    model === undefined ? noContext : conversations.contextOf(found),
    agentsBelow(api, caller, id),
    conversations.changedFiles(found),
  ])
  const used = await conversations.spentInTree(id)
  const lastAnswer = turns.findLast(({ kind }) => kind === "assistant")
  const view = org.view(agentId)
  const { department } = view ?? {}
  const { usedTokens, maxTokens, status, thresholds } = context
  return {
    agentId,
    role: view?.role.name ?? "",
    ...(department !== undefined && { department }),
    ...(options.taskId !== undefined && { taskId: options.taskId }),
    model: {
      name: lastAnswer?.kind === "assistant" ? lastAnswer.body.model : (model?.name ?? ""),
      seesImages: model?.seesImages ?? false,
      next: model?.name ?? "",
    },
    models: models.list().map(({ name }) => ({ name, seesImages: seesImages(api, name) })),
    mode: api.app.modeOf(agentId, id),
    rounds: {
      used: currentRun(turns).filter((turn) => turn.kind === "assistant" && turn.body.calls.length > 0).length,
      max: options.maxRounds ?? conversations.limits.maxRounds,
    },
    budget: {
      cost: limited(used.cost, budget.maxCost),
      tokens: limited(used.inputTokens + used.outputTokens, budget.maxTokens),
      calls: limited(used.calls, budget.maxCalls),
      inputTokens: used.inputTokens,
      outputTokens: used.outputTokens,
    },
    context: { usedTokens, maxTokens, status, thresholds: { ...thresholds } },
    below,
    changed,
  }
}

const noContext = {
  usedTokens: 0,
  maxTokens: 0,
  status: "normal",
  thresholds: { warning: 1, critical: 1, exceeded: 1 },
} as const

function limited(used: number, max: number | undefined) {
  return max === undefined ? { used } : { used, max }
}

/** The model of the next message. Undefined when none is configured any more. */
export function modelNow({ app }: Api, conversation: Parameters<Api["app"]["conversations"]["modelOf"]>[0]) {
  try {
    return app.conversations.modelOf(conversation)
  } catch {
    return undefined
  }
}

function seesImages({ app }: Api, name: string): boolean {
  try {
    return app.models.get(name).seesImages === true
  } catch {
    return false
  }
}

const doing: Readonly<Record<AgentEvent["type"], ChainSideJson["below"][number]["doing"]>> = {
  woken: "working",
  calling: "working",
  waiting: "waiting",
  delegated: "delegated",
  answered: "answered",
  failed: "failed",
}

/** Returns the present activity of each agent below, in the order in which they began. */
async function agentsBelow(api: Api, caller: Caller, id: string): Promise<ChainSideJson["below"]> {
  const { events } = await api.app.conversations.agentEvents(id)
  const latest = new Map<string, AgentEvent>()
  for (const event of events) if (maySeeAgent(api, caller, event)) latest.set(event.conversationId, event)
  return Promise.all(
    [...latest.values()].map(async ({ type, agentId, conversationId, depth, tools = [], spent, at }) => ({
      agentId,
      conversationId,
      depth,
      doing: doing[type],
      tools: [...tools],
      cost: spent.cost,
      since: at,
      task: await taskOf(api, conversationId),
    })),
  )
}
