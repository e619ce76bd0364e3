import { terminalStyleFor } from "../../../../lib/terminal-style.ts"
import { activeAgent } from "../../common/calling-agent.ts"
import type { CliContext } from "../../common/context.ts"
import { personOf, withApp } from "../../common/open-app.ts"
import { printMessage } from "../../common/output.ts"
import { cancelOnSignal } from "../../common/signals.ts"
import { CannotDo } from "../../common/usage.ts"
import { waitForServers } from "../../common/wait-for-servers.ts"
import { DocumentRefused } from "../../../../agents/documents/chat-documents.ts"
import { ToolFailure } from "../../../../core/ending.ts"
import { modelFor } from "../models/model-for.ts"
import { chatInDocument } from "./document-chat.ts"
import { readKeys } from "./keyboard.ts"
import { deadlineMs, type ChatFlags } from "./start-chat.ts"
import { WaitingCards } from "./waiting-cards.ts"

/** Opens the app and talks in a file until the person leaves. */
export async function startDocument(context: CliContext, flags: ChatFlags & { document: string }): Promise<number> {
  const { io } = context
  const { controller, stop } = cancelOnSignal(io.leave, () => {})
  const print = (text: string) => printMessage(context, text)
  try {
    await withApp(context, { longLived: true, print }, async (app, loaded) => {
      const by = (await personOf(context, app, loaded)).id
      const agentId = activeAgent(context, loaded, app)
      const model = await modelFor(app, loaded, agentId, { named: flags.model, before: undefined })
      await waitForServers(context, app)
      app.society.start()
      await chatInDocument(
        {
          app,
          agentId,
          by,
          print,
          path: flags.document,
          options: { model, deadlineMs },
          paint: await terminalStyleFor(io.stdout, io.env),
          cards: new WaitingCards(context, app, by),
          readKeys: (onKey) => readKeys(io.stdin, io.stdout, onKey),
        },
        controller.signal,
      )
    })
    return 0
  } catch (error) {
    if (error instanceof DocumentRefused || error instanceof ToolFailure)
      throw new CannotDo("document_refused", error.message)
    throw error
  } finally {
    stop()
  }
}
