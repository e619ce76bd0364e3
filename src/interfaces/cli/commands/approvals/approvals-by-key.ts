import type { CliCommand } from "../../common/cli-command.ts"
import type { QueueEnd } from "../../../../approvals/ask/queue.ts"
import type { PendingItem } from "../../../../core/approval.ts"
import { answerHere, canAnswerHere } from "./answer-at-terminal.ts"
import type { CliContext } from "../../common/context.ts"
import { withPerson } from "../../common/open-app.ts"
import { printMessage } from "../../common/output.ts"
import { cancelOnSignal } from "../../common/signals.ts"
import { CannotDo, UsageError } from "../../common/usage.ts"

type Kind = PendingItem["kind"]

/** A command that answers what waits. Without an id it shows the card, or a list to choose from, and takes a key. */
export function byKeyWithoutId<Rest extends unknown[]>(
  kinds: readonly Kind[],
  command: (context: CliContext, id: string, ...rest: Rest) => Promise<number>,
) {
  return (context: CliContext, id: string | undefined, ...rest: Rest): Promise<number> => {
    if (id !== undefined) return command(context, id, ...rest)
    refuseOptions(rest.at(-1) as CliCommand)
    return answerByKey(context, kinds)
  }
}

/** The card asks for what the options say, so that they cannot answer something the person has not seen. */
function refuseOptions(command: CliCommand): void {
  const [option] = command.options.filter((each) => command.getOptionValueSource(each.attributeName()) === "cli")
  if (option !== undefined)
    throw new UsageError(`${option.long} goes with an id. Give the id, or leave it out: the card asks.`)
}

/** Shows what waits of these kinds and takes one answer. It counts for the revision that was shown. */
async function answerByKey(context: CliContext, kinds: readonly Kind[]): Promise<number> {
  if (!canAnswerHere(context))
    throw new UsageError("There is no terminal to ask in. Give an id; 'qm approvals list' shows all ids.")
  const { controller, interrupt, stop } = cancelOnSignal(context.io.leave, () => {})
  try {
    return await withPerson(context, async (app, by) => {
      const end = await answerHere(context, app, by.id, {
        signal: controller.signal,
        interrupt,
        select: (items) => items.filter(({ kind }) => kinds.includes(kind)),
        once: true,
      })
      return exitCodeOf(context, end, kinds)
    })
  } finally {
    stop()
  }
}

function exitCodeOf(context: CliContext, end: QueueEnd, kinds: readonly Kind[]): number {
  if (end === "accepted") return 0
  if (end === "nothing")
    throw new CannotDo(
      "nothing_waits",
      `No ${kinds.join(" or ")} waits for a person. 'qm approvals list' shows what does.`,
    )
  if (end !== "refused") printMessage(context, "Nothing was answered.")
  return 1
}
