import type { Message } from "../../../../core/organisation.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import type { CliContext } from "../../common/context.ts"
import { wholeAgentId } from "../../common/known-names.ts"
import { showList } from "../../common/listing.ts"
import { withApp } from "../../common/open-app.ts"
import { printMessage, printOutput, printResult } from "../../common/output.ts"
import { formatTime } from "../../common/time-text.ts"
import { ambiguousId, CannotDo, requireId } from "../../common/usage.ts"

interface InboxFlags {
  unread?: boolean
  message?: string
}

/** More messages than this are a table, which cuts them. */
const fewMessages = 10

/** Shows the messages of an agent, or of people (`user`): a few as a whole, many as a table. */
export function showInbox(context: CliContext, given: string, { unread, message }: InboxFlags): Promise<number> {
  return withApp(context, { readOnly: true }, async (app) => {
    const id = given === "user" ? given : wholeAgentId(app, given)
    const messages = await app.org.inbox(id, { unreadOnly: unread === true })
    if (message !== undefined) {
      const found = findMessage(messages, id, requireId(message))
      printResult(context, found, printable(textOf(found)))
    } else if (messages.length > 0 && messages.length <= fewMessages && !context.flags.json)
      printOutput(context, messages.map(wholeText).join("\n\n"))
    else await showTable(context, id, messages)
    return 0
  })
}

async function showTable(context: CliContext, id: string, messages: readonly Message[]): Promise<void> {
  await showList(
    context,
    messages,
    [
      { title: "ID", of: (each) => each.id, paint: "dim" },
      { title: "ARRIVED", of: ({ deliverAt }) => formatTime(deliverAt), paint: "dim" },
      { title: "FROM", of: ({ from }) => from, paint: "bold" },
      { title: "READ", of: ({ readAt }) => (readAt === null ? "no" : "yes") },
      { title: "MESSAGE", of: textOf },
    ],
    `No message has arrived for ${id}.`,
  )
  if (messages.length > 0 && !context.flags.json)
    printMessage(context, `'qm agents inbox ${id} --message <id>' shows one as a whole.`)
}

/** A line about the message, then its text, indented so that no line of it can look like another message. */
function wholeText(message: Message): string {
  const { id, from, deliverAt, taskId, readAt } = message
  const task = taskId === undefined ? "" : `, task ${taskId}`
  const head = `${formatTime(deliverAt)} from ${from}${task}, ${readAt === null ? "unread" : "read"} (${id})`
  return printable(
    [
      head.replace(/\s+/g, " "),
      ...textOf(message)
        .split("\n")
        .map((line) => `  ${line}`),
    ].join("\n"),
  )
}

function textOf({ payload }: Message): string {
  return typeof payload === "string" ? payload : printableJson(payload)
}

function findMessage(messages: readonly Message[], to: string, id: string): Message {
  const found = messages.filter((each) => each.id.startsWith(id))
  const [only] = found
  if (only === undefined)
    throw new CannotDo(
      "message_not_found",
      `No message to ${to} has the id '${id}'. 'qm agents inbox ${to}' shows all.`,
    )
  if (found.length > 1)
    throw ambiguousId(
      id,
      found.map((each) => each.id),
    )
  return only
}
