import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { printable } from "../../../../lib/printable.ts"
import type { CliContext } from "../../common/context.ts"
import { activeAgentId } from "../../common/known-names.ts"
import { modelFor } from "../models/model-for.ts"
import { withPerson } from "../../common/open-app.ts"
import { printMessage, printOutput, printResult } from "../../common/output.ts"
import { cancelOnSignal } from "../../common/signals.ts"
import { UsageError } from "../../common/usage.ts"

/** A process that runs agents begins within a second. */
const lookMs = 5000

async function tellIfNobodyWorks(context: CliContext, { society }: Quartermaster, to: string): Promise<void> {
  const agent = (await society.overview()).find(({ agentId }) => agentId === to)
  if (agent?.state === "unread")
    printMessage(context, "Nobody has begun yet. Start 'qm serve' in this folder, or press Ctrl-C: the message stays.")
}

/** Sends a message to an agent as the person at the keyboard and, with --wait, prints its answer. */
export async function messageAgent(
  context: CliContext,
  given: string,
  words: readonly string[],
  { wait }: { wait?: string | true },
): Promise<number> {
  const seconds = wait === undefined || wait === true ? undefined : Number(wait)
  if (seconds !== undefined && !(seconds >= 0))
    throw new UsageError(`--wait takes a number of seconds, and '${String(wait)}' is none. Write the text before it.`)
  const { controller, stop } = cancelOnSignal(context.io.leave, () => {})
  try {
    return await withPerson(context, async (app, by, loaded) => {
      const to = activeAgentId(app, given)
      // Without a model nobody would ever work on it.
      await modelFor(app, loaded, to, {})
      const sent = await app.society.message({ to, payload: words.join(" "), by: by.id })
      if (wait === undefined) {
        const next = "It works on it while 'qm serve' runs; 'qm agents inbox user' shows the answer."
        printResult(context, sent, `Sent message ${sent.id} to ${to}. ${next}`)
        return 0
      }
      const { signal } = controller
      const until = seconds === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)])
      if (!context.flags.json) printMessage(context, `Waiting for ${to}. It works while 'qm serve' runs.`)
      const looking = setTimeout(() => void tellIfNobodyWorks(context, app, to).catch(() => {}), lookMs)
      const answer = await app.society.answer(sent.id, { signal: until })
      clearTimeout(looking)
      if (answer === undefined) {
        printMessage(context, `There is no answer yet. 'qm agents inbox user' shows it when it has come.`)
        return 4
      }
      if (context.flags.json) printResult(context, answer, "")
      else
        printOutput(
          context,
          printable(typeof answer.payload === "string" ? answer.payload : JSON.stringify(answer.payload)),
        )
      return 0
    })
  } finally {
    stop()
  }
}
