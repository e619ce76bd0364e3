import { printable } from "../../../../lib/printable.ts"
import { shellWord } from "../../../../lib/shell-word.ts"
import { terminalStyleFor } from "../../../../lib/terminal-style.ts"
import { activeAgent } from "../../common/calling-agent.ts"
import type { CliContext } from "../../common/context.ts"
import { modelFor } from "../models/model-for.ts"
import { personOf, withApp } from "../../common/open-app.ts"
import { printMessage } from "../../common/output.ts"
import { cancelOnSignal } from "../../common/signals.ts"
import { waitForServers } from "../../common/wait-for-servers.ts"
import { Chat } from "./chat.ts"
import { conversationOf } from "./choose-conversation.ts"
import { InputHistory } from "./history.ts"
import { readKeys } from "./keyboard.ts"
import { pictureShower } from "./picture.ts"
import { resumedRows } from "./resumed.ts"
import { WaitingCards } from "./waiting-cards.ts"

export interface ChatFlags {
  model?: string
  resume?: string | true
  document?: string
}

/** People may take a day to answer a card before a run is out of time. */
export const deadlineMs = 24 * 60 * 60 * 1000

/** Opens the app and talks at the terminal until the person leaves. */
export async function startChat(context: CliContext, flags: ChatFlags): Promise<number> {
  const { io } = context
  const { controller, stop } = cancelOnSignal(io.leave, () => {})
  let chat: Chat | undefined
  const print = (text: string) => (chat === undefined ? printMessage(context, text) : chat.print(text.split("\n")))
  try {
    const left = await withApp(context, { longLived: true, print }, async (app, loaded) => {
      const by = (await personOf(context, app, loaded)).id
      app.approvals.attach("queue")
      const before = await conversationOf(context, app, { resume: flags.resume, by, leaving: controller.signal })
      const agentId = before?.agentId ?? activeAgent(context, loaded, app)
      const model = await modelFor(app, loaded, agentId, { named: flags.model, before })
      await waitForServers(context, app)
      const paint = await terminalStyleFor(io.stdout, io.env)
      chat = new Chat({
        app,
        agentId,
        model,
        id: before?.id,
        limits: { deadlineMs, userId: by },
        output: io.stdout,
        paint,
        showPicture: await pictureShower(io.env),
        history: new InputHistory(loaded.dataDir),
        cards: new WaitingCards(context, app, by),
        suspend,
        readKeys: (onKey) => readKeys(io.stdin, io.stdout, onKey),
      })
      chat.print([`${paint.bold(printable(agentId))}${paint.dim(` · ${printable(model.name)} · /help`)}`])
      if (before !== undefined) chat.print(await resumedRows(app, before, paint, io.stdout.columns || 80))
      const talked = chat
      app.society.start({ within: talked.id })
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
