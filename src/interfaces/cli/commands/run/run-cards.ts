import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import { followChanges } from "../../../../store/change-feed.ts"
import type { PendingItem } from "../../../../core/approval.ts"
import { WaitingCards } from "../chat/waiting-cards.ts"
import type { CliContext } from "../../common/context.ts"
import { printMessage } from "../../common/output.ts"
import { itemsInTree } from "../agents/wait-for-agents.ts"

interface RunCardsOptions {
  /** The conversation of the run. */
  id: string
  /** Returns the person who answers. */
  person(): Promise<string>
  /** A card takes the terminal, and gives it back. */
  before(): void
  after(): void
  /** The person pressed Ctrl-C at a card. */
  interrupt(): void
  /** The person left these for later, and nothing else runs. */
  onLeft(items: readonly PendingItem[]): void
}

/** Shows what waits in a run as the chat does. Returns a function that stops that and takes an open card off. */
export function showCards(
  context: CliContext,
  app: Quartermaster,
  { id, person, before, after, interrupt, onLeft }: RunCardsOptions,
): () => void {
  let cards: WaitingCards | undefined
  const over = new AbortController()
  const { signal } = over
  const running = new Set<string>()
  const stop = () => {
    over.abort()
    interrupt()
  }
  const stage = { mayShow: () => !signal.aborted, before, after, interrupt: stop }
  const look = async () => {
    if (signal.aborted) return
    try {
      const items = await itemsInTree(app, id)
      if (items.length > 0) cards ??= new WaitingCards(context, app, await person())
      await cards?.look(id, stage)
    } catch (error) {
      if (signal.aborted) return
      printMessage(context, errorMessage(error))
      return end()
    }
    if (cards?.hasLeft === true && running.size === 0) await end()
  }
  /** Ends the run. Waiting items go on waiting. */
  const end = async () => {
    if (signal.aborted) return
    over.abort()
    onLeft(await itemsInTree(app, id))
  }
  const news = followChanges(app.changes, signal)
  const lookAlways = async () => {
    for (; !signal.aborted; await news.next()) await look()
  }
  void lookAlways()
  const ended = ({ callId }: { callId: string }) => {
    running.delete(callId)
    news.wake()
  }
  const stops = [
    app.on("TOOL_CALL_WAITING", news.wake),
    app.on("TOOL_CALL_REQUESTED", ({ callId }) => void running.add(callId)),
    app.on("TOOL_CALL_COMPLETED", ended),
    app.on("TOOL_CALL_FAILED", ended),
  ]
  return () => {
    over.abort()
    news.stop()
    for (const off of stops) off()
    cards?.close()
  }
}
