import { chainTurns } from "../../agents/chain/turns.ts"
import type { LoadedConfig } from "../../config/load.ts"
import { printable } from "../../lib/printable.ts"
import type { TerminalStyle } from "../../lib/terminal-style.ts"
import { conversationStates, type Conversation } from "../../model/conversation.ts"
import { activeAgent } from "../calling-agent.ts"
import type { CliApp, CliContext } from "../context.ts"
import { findConversation } from "../find-conversation.ts"
import { chooseConversation } from "./choose-conversation.ts"
import { CannotDo } from "../usage.ts"
import { AnswerText } from "./answer-text.ts"
import { wrap } from "./layout.ts"

/** The conversation to go on with: the one that is named, or one of the agent's that the person chooses. */
export async function conversationOf(
  context: CliContext,
  app: CliApp,
  loaded: LoadedConfig,
  resume: string | true | undefined,
  leaving: AbortSignal,
): Promise<Conversation | undefined> {
  if (resume === undefined) return undefined
  if (resume !== true) return findConversation(app.conversations, resume)
  const agentId = activeAgent(context, loaded, app)
  const states = conversationStates.filter((state) => state !== "ended")
  const { conversations } = await app.conversations.list({ agentId, states, limit: 9 })
  if (conversations.length > 1) return chooseConversation(context, app, conversations, leaving)
  if (conversations.length === 1) return conversations[0]
  throw new CannotDo("conversation_not_found", `Agent ${agentId} has no conversation yet. Begin one with 'qm chat'.`)
}

/** What was said last, and what the agent answered. */
export async function lastExchange(
  app: CliApp,
  { id }: Conversation,
  paint: TerminalStyle,
  columns: number,
): Promise<string[]> {
  const { bold, cyan, dim } = paint
  const turns = chainTurns(await app.conversations.turns(id))
  const said = turns.findLast((turn) => turn.kind === "user" && turn.body.begins)
  const answer = turns.findLast((turn) => turn.kind === "assistant" && turn.index > (said?.index ?? 0))
  const saidRows = said?.kind === "user" ? wrap(printable(said.body.text.replaceAll("\n", " ")), columns - 3) : []
  const text = new AnswerText(paint, () => columns)
  const answerRows = answer?.kind === "assistant" ? [...text.add(answer.body.text), ...text.end()] : []
  return [
    dim(`Conversation ${id}, ${turns.length} turns.`),
    "",
    ...saidRows.slice(0, 5).map((row, place) => (place === 0 ? cyan("› ") : "  ") + bold(row)),
    "",
    ...(answerRows.length > 20 ? [dim("…"), ...answerRows.slice(-20)] : answerRows),
  ]
}
