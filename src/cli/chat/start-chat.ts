import type { LoadedConfig } from "../../config/load.ts"
import { printable } from "../../lib/printable.ts"
import { shellWord } from "../../lib/shell-word.ts"
import { terminalStyleFor, type TerminalStyle } from "../../lib/terminal-style.ts"
import type { ApprovalUIAdapter } from "../../model/approval.ts"
import type { Conversation } from "../../model/conversation.ts"
import { chainTurns } from "../../agents/chain/turns.ts"
import { activeAgent } from "../calling-agent.ts"
import type { CliApp, CliContext } from "../context.ts"
import { findConversation } from "../find-conversation.ts"
import { modelFor } from "../model-for.ts"
import { personOf, withApp } from "../open-app.ts"
import { printMessage } from "../output.ts"
import { limitsOf } from "../run-limits.ts"
import { cancelOnSignal } from "../signals.ts"
import { CannotDo } from "../usage.ts"
import { waitForServers } from "../wait-for-servers.ts"
import { AnswerText } from "./answer-text.ts"
import { Chat } from "./chat.ts"
import { InputHistory } from "./history.ts"
import { readKeys } from "./keyboard.ts"
import { wrap } from "./layout.ts"
import { WaitingCards } from "./waiting-cards.ts"

export interface ChatFlags {
  model?: string
  resume?: string | true
}

/** People may take a day to answer a card before a run is out of time. */
const deadlineMs = 24 * 60 * 60 * 1000

/** Opens the app and talks at the terminal until the person leaves. */
export async function startChat(context: CliContext, flags: ChatFlags): Promise<number> {
  const { io } = context
  const { controller, stop } = cancelOnSignal(io.leave, () => {})
  let chat: Chat | undefined
  const print = (text: string) => (chat === undefined ? printMessage(context, text) : chat.print(text.split("\n")))
  try {
    const left = await withApp(context, { longLived: true, print, approvals: askedByCards }, async (app, loaded) => {
      const before = await conversationOf(context, app, loaded, flags.resume)
      const agentId = before?.agentId ?? activeAgent(context, loaded, app)
      const model = await modelFor(app, loaded, agentId, { named: flags.model, before })
      const by = (await personOf(context, app, loaded)).id
      await waitForServers(context, app)
      const paint = await terminalStyleFor(io.stdout, io.env)
      chat = new Chat({
        app,
        agentId,
        model,
        id: before?.id,
        limits: { ...limitsOf(loaded), deadlineMs },
        approvals: askedByCards,
        output: io.stdout,
        paint,
        history: new InputHistory(loaded.dataDir),
        cards: new WaitingCards(context, app, by),
        suspend,
        readKeys: (onKey) => readKeys(io.stdin, io.stdout, onKey),
      })
      chat.print([`${paint.bold(printable(agentId))}${paint.dim(` · ${printable(model.name)} · /help`)}`])
      if (before !== undefined) chat.print(await lastExchange(app, before, paint, io.stdout.columns || 80))
      const talked = chat
      await talked.talk(controller.signal, before !== undefined && before.state !== "idle")
      if (talked.hasRunningCalls)
        printMessage(context, "A call still runs; this ends when it has ended. Ctrl-C stops the call.")
      controller.signal.addEventListener("abort", () => talked.stop())
      return talked
    })
    if (left.hasBegun) printMessage(context, `Go on with: qm chat --resume ${shellWord(left.id)}`)
    return 0
  } finally {
    stop()
  }
}

function suspend(back: () => void): void {
  process.once("SIGCONT", back)
  // The whole job, as the terminal does: npx may have started this program.
  process.kill(0, "SIGTSTP")
}

/** The person is asked by the cards of the chat, which answer in the queue; this only says that somebody is here. */
const askedByCards: ApprovalUIAdapter = {
  showToolExecutionApproval: (_tool, _description, _input, _level, { signal }) => untilClosed(signal),
  showToolResultApproval: (_tool, _input, _result, { signal }) => untilClosed(signal),
  showQuestion: (_question, { signal }) => untilClosed(signal),
}

function untilClosed(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("It was answered elsewhere.")))
  })
}

/** The conversation to go on with: the one that is named, or the newest of the agent. */
async function conversationOf(
  context: CliContext,
  app: CliApp,
  loaded: LoadedConfig,
  resume: string | true | undefined,
): Promise<Conversation | undefined> {
  if (resume === undefined) return undefined
  if (resume !== true) return findConversation(app.conversations, resume)
  const agentId = activeAgent(context, loaded, app)
  const { conversations } = await app.conversations.list({ agentId, limit: 10 })
  const newest = conversations.find(({ state }) => state !== "ended")
  if (newest !== undefined) return newest
  throw new CannotDo("conversation_not_found", `Agent ${agentId} has no conversation yet. Begin one with 'qm chat'.`)
}

/** What was said last, and what the agent answered. */
async function lastExchange(
  app: CliApp,
  { id }: Conversation,
  { bold, cyan, dim, ...paint }: TerminalStyle,
  columns: number,
): Promise<string[]> {
  const turns = chainTurns(await app.conversations.turns(id))
  const said = turns.findLast((turn) => turn.kind === "user" && turn.body.begins)
  const answer = turns.findLast((turn) => turn.kind === "assistant" && turn.index > (said?.index ?? 0))
  const saidRows = said?.kind === "user" ? wrap(printable(said.body.text.replaceAll("\n", " ")), columns - 3) : []
  const text = new AnswerText({ bold, cyan, dim, ...paint }, () => columns)
  const answerRows = answer?.kind === "assistant" ? [...text.add(answer.body.text), ...text.end()] : []
  return [
    dim(`Conversation ${id}, ${turns.length} turns.`),
    "",
    ...saidRows.slice(0, 5).map((row, place) => (place === 0 ? cyan("› ") : "  ") + bold(row)),
    "",
    ...(answerRows.length > 20 ? [dim("…"), ...answerRows.slice(-20)] : answerRows),
  ]
}
