import { chainTurns } from "../../agents/chain/turns.ts"
import { printable } from "../../lib/printable.ts"
import type { Conversation } from "../../model/conversation.ts"
import type { CliApp, CliContext } from "../context.ts"
import { printMessage } from "../output.ts"
import { columnsOf, table } from "../table.ts"
import { formatTime } from "../time-text.ts"
import { CannotDo } from "../usage.ts"

/** Shows the conversations, newest first, and asks for the number of one until the signal aborts. Enter takes the newest. */
export async function chooseConversation(
  context: CliContext,
  app: CliApp,
  conversations: readonly Conversation[],
  leaving: AbortSignal,
): Promise<Conversation> {
  const { io } = context
  const rows = await Promise.all(
    conversations.map(async ({ id, updatedAt }, place) => {
      const turns = chainTurns(await app.conversations.turns(id))
      const said = turns.findLast((turn) => turn.kind === "user" && turn.body.begins)
      const text = said?.kind === "user" ? said.body.text : ""
      return [String(place + 1), formatTime(updatedAt), printable(text)]
    }),
  )
  const head = [{ title: "" }, { title: "LAST USED" }, { title: "YOU SAID" }]
  printMessage(context, table(head, rows, columnsOf(io.stdout) - 1))
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
