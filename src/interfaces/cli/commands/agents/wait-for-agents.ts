import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { ToolChainResult } from "../../../../agents/chain/chain-result.ts"
import type { ToolChain } from "../../../../agents/chain/tool-chain.ts"
import type { RunningSociety } from "../../../../agents/society/society.ts"
import { followChanges, type Follower } from "../../../../store/change-feed.ts"
import type { PendingItem } from "../../../../core/approval.ts"

/**
 * Goes on with a run until every agent that it wrote to has answered, and returns its last result. Where the others only
 * wait for people, so does the run.
 */
export async function waitForAgents(
  app: Quartermaster,
  chain: ToolChain,
  society: RunningSociety,
  first: ToolChainResult,
  signal: AbortSignal,
): Promise<ToolChainResult> {
  const changes = followChanges(app.changes, signal)
  try {
    return await untilAnswered(app, chain, society, first, signal, changes)
  } finally {
    changes.stop()
  }
}

async function untilAnswered(
  app: Quartermaster,
  chain: ToolChain,
  society: RunningSociety,
  first: ToolChainResult,
  signal: AbortSignal,
  changes: Follower,
): Promise<ToolChainResult> {
  let result = first
  while (result.status === "completed" && !signal.aborted) {
    const { unread, sent } = await app.society.openMessages(chain.id)
    if (unread > 0) {
      result = await chain.resume()
      continue
    }
    if (sent.length === 0) return result
    const news = nextMessage(app)
    const isIdle = await Promise.race([society.idle().then(() => true), news.came, aborted(signal)])
    news.stop()
    if (!isIdle || (await app.society.openMessages(chain.id)).unread > 0) continue
    const recipients = new Set(sent.map(({ to }) => to))
    const activity = await app.society.overview()
    const isWorking = activity.some(({ agentId, state }) => recipients.has(agentId) && state === "working")
    if (!isWorking) return { ...result, status: "waiting", waiting: ticketsOf(await itemsInTree(app, chain.id)) }
    // Another process runs them.
    await changes.next()
  }
  return signal.aborted && result.status === "completed" ? { ...result, status: "aborted" } : result
}

/** Returns the items that wait for a person in a conversation and in those that its agent began. */
export async function itemsInTree(app: Quartermaster, conversationId: string): Promise<PendingItem[]> {
  const items = await app.approvals.list()
  const isBelow = async ({ sessionId }: PendingItem) =>
    sessionId === conversationId || (await app.conversations.get(sessionId))?.root === conversationId
  const below = await Promise.all(items.map(isBelow))
  return items.filter((_item, place) => below[place])
}

function ticketsOf(items: readonly PendingItem[]): ToolChainResult["waiting"] {
  return items.map(({ callId, kind, until }) => ({ callId, state: kind === "result" ? "held" : "waiting", until }))
}

function nextMessage(app: Quartermaster): { came: Promise<false>; stop(): void } {
  let stop = () => {}
  const came = new Promise<false>((resolve) => {
    stop = app.on("MESSAGE_SENT", () => resolve(false))
  })
  return { came, stop }
}

function aborted(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(false)
    signal.addEventListener("abort", () => resolve(false), { once: true })
  })
}
