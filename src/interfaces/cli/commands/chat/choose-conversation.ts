import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { agentOfEntries } from "../../common/known-names.ts"
import { chainTurns, withoutTakenBack } from "../../../../agents/context/turns.ts"
import { printable } from "../../../../lib/printable.ts"
import { spanWords } from "../../../../lib/span-words.ts"
import { conversationStates, type Conversation } from "../../../../core/conversation.ts"
import { societyPrefix } from "../../../../core/society-conversation.ts"
import type { CliContext } from "../../common/context.ts"
import { findConversation } from "../run/find-conversation.ts"
import { printMessage } from "../../common/output.ts"
import { columnsOf, table } from "../../terminal/table.ts"
import { CannotDo } from "../../common/usage.ts"
import { itemsInTree } from "../agents/wait-for-agents.ts"
import { isSaid } from "./resumed.ts"

/** The conversation to go on with: the one that is named, or the person's last ones, of which they choose one. */
export async function conversationOf(
  context: CliContext,
  app: Quartermaster,
  { resume, by, leaving }: { resume: string | true | undefined; by: string; leaving: AbortSignal },
): Promise<Conversation | undefined> {
  if (resume === undefined) return undefined
  if (resume !== true) return findConversation(app.conversations, resume)
  const agent = agentOfEntries(context, app)
  const conversations = await lastUsed(app, by, agent)
  if (conversations.length > 1) return chooseConversation(context, app, conversations, leaving)
  if (conversations.length === 1) return conversations[0]
  const withWhom = agent === undefined ? "" : ` with agent ${agent}`
  throw new CannotDo("conversation_not_found", `You have no conversation${withWhom} yet. Begin one with 'qm chat'.`)
}

const mostListed = 9

/** The conversations that a person began, with all agents or one, those used last first. */
async function lastUsed(app: Quartermaster, by: string, agentId: string | undefined): Promise<Conversation[]> {
  const states = conversationStates.filter((state) => state !== "ended")
  const filter = { agentId, states, startedBy: by, notPrefix: societyPrefix, limit: mostListed }
  return (await app.conversations.list(filter)).conversations
}

/** Shows the conversations and asks for the number of one until the signal aborts. Enter takes the first. */
async function chooseConversation(
  context: CliContext,
  app: Quartermaster,
  conversations: readonly Conversation[],
  leaving: AbortSignal,
): Promise<Conversation> {
  const { io } = context
  printMessage(context, await listOf(app, conversations, columnsOf(io.stdout) - 1))
  const { createInterface } = await import("node:readline/promises")
  const lines = createInterface({ input: io.stdin, output: io.stderr })
  const closed = new AbortController()
  // Ctrl-C and Ctrl-D close it, and the question would stay open.
  lines.once("close", () => closed.abort())
  const signal = AbortSignal.any([leaving, closed.signal])
  try {
    for (;;) {
      const question = `Go on with which one? [1-${conversations.length}, Enter: 1] `
      const reply = await lines.question(question, { signal })
      const chosen = conversations[reply.trim() === "" ? 0 : Number(reply) - 1]
      if (chosen !== undefined) return chosen
    }
  } catch (error) {
    if (!signal.aborted) throw error
    printMessage(context, "")
    throw new CannotDo("nothing_chosen", "No conversation was chosen. 'qm chat' begins a new one.")
  } finally {
    lines.close()
  }
}

/** A numbered row for each: when it was used, with whom, what waits in it, and what was said last. */
async function listOf(app: Quartermaster, conversations: readonly Conversation[], columns: number): Promise<string> {
  const rows = await Promise.all(
    conversations.map(async ({ id, agentId, updatedAt }, place) => {
      const said = withoutTakenBack(chainTurns(await app.conversations.turns(id))).findLast((turn) => isSaid(turn))
      const waiting = (await itemsInTree(app, id)).map(({ tool }) => tool)
      const waits = waiting.length > 1 ? `${waiting.length} calls` : (waiting[0] ?? "-")
      const text = said?.kind === "user" ? said.body.text : ""
      return [String(place + 1), `${spanWords(Date.now() - updatedAt)} ago`, agentId, waits, text].map(printable)
    }),
  )
  const head = ["", "LAST USED", "AGENT", "WAITS", "YOU SAID"].map((title) => ({ title }))
  return table(head, rows, columns)
}
