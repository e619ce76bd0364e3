import type { PendingItem } from "../../core/approval.ts"
import type { CommandPart } from "../../core/guard.ts"
import type { Sentence } from "../../core/reason.ts"
import { messageOf, type Message } from "../../messages/message.ts"
import type { Preview } from "./schema.ts"

type ShownPart = Extract<Preview, { kind: "command" }>["parts"][number]

/** The tool's preview, and of a command the parts that the guard read. */
export function previewOf({ previewData, commandParts = [] }: PendingItem): Preview | undefined {
  if (previewData === undefined) return undefined
  const { bytes: _bytes, ...preview } = previewData
  if (preview.kind === "diff") return { ...preview, files: [...preview.files] }
  if (preview.kind !== "command") return preview
  const { details, command } = preview
  // One part is the whole command, which the tool shows with invisible characters written out.
  const parts =
    commandParts.length > 1
      ? commandParts.map(shownPart)
      : [{ ...shownPart(commandParts[0] ?? unread), operator: "", text: command }]
  return { ...preview, details: details.map(detailOf), parts }
}

/** A line without a code, of a tool that has none or of a call that waited in an older version, stays as it is. */
function detailOf(line: string | Sentence): Message {
  return typeof line === "string" ? { code: "detail", text: line } : messageOf(line)
}

const unread: CommandPart = { operator: "", text: "", reads: [], writes: [], network: false }

function shownPart(part: CommandPart): ShownPart {
  const { operator, text, deletes, unproved } = part
  const mark = deletes === undefined ? (unproved === undefined ? "none" : "ask") : "deny"
  return { operator, text, mark, notes: notesOf(part) }
}

function notesOf({ deletes, writes, reads, network, sendsOut, unproved }: CommandPart): Message[] {
  const named = (code: string, verb: string, files: readonly string[]): Message[] =>
    files.length === 0 ? [] : [{ code, params: { files: [...files] }, text: `${verb} ${files.join(", ")}.` }]
  return [
    ...named("part_deletes", "Deletes", deletes ?? []),
    ...(deletes?.length === 0 ? [{ code: "part_deletes_found", text: "Deletes what it finds." }] : []),
    ...named("part_writes", "Writes", writes),
    ...named("part_reads", "Reads", reads),
    ...(sendsOut === true
      ? [{ code: "part_sends_out", text: "May send data to another machine." }]
      : network
        ? [{ code: "part_network", text: "May use the network." }]
        : []),
    ...(unproved === undefined
      ? []
      : [
          {
            code: "part_unproved",
            params: { because: unproved },
            text: `It is not certain what it does, because ${unproved}.`,
          },
        ]),
  ]
}
