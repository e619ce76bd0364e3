import type { Touch } from "../../model/rule.ts"
import type { Message, Preview } from "./schemas.ts"

type CommandPreview = Extract<Preview, { kind: "command" }>
type Part = CommandPreview["parts"][number]

const deleting = new Set(["rm", "rmdir", "unlink", "shred"])

/** A command in the parts that the guard read, each with what it touches. One part when they are not found in the text. */
export function commandParts(command: string, touches: readonly Touch[]): Part[] {
  const parts: Part[] = []
  let place = 0
  for (const [index, touch] of touches.entries()) {
    if (touch.kind !== "command" || touch.derived === true) continue
    const start = command.indexOf(touch.what, place)
    if (start === -1) return [{ operator: "", text: command, mark: "none", notes: [] }]
    parts.push({
      operator: command.slice(place, start).trim(),
      text: touch.what,
      mark: deletes(touch.what) ? "deny" : "none",
      notes: notesOf(touch.what, filesAfter(touches, index)),
    })
    place = start + touch.what.length
  }
  const rest = command.slice(place).trim()
  if (parts.length === 0) return [{ operator: "", text: command, mark: "none", notes: [] }]
  return rest === "" ? parts : [...parts, { operator: "", text: rest, mark: "none", notes: [] }]
}

/** Whether the program deletes files. */
export function deletes(segment: string): boolean {
  return deleting.has(segment.split(/\s/, 1)[0] ?? "")
}

/** The files that this segment names: the guard lists them right after it. */
function filesAfter(touches: readonly Touch[], index: number): Touch[] {
  const next = touches.findIndex((touch, place) => place > index && touch.kind === "command")
  return touches.slice(index + 1, next === -1 ? undefined : next)
}

function notesOf(segment: string, files: readonly Touch[]): Message[] {
  const paths = (kind: Touch["kind"]) => files.filter((file) => file.kind === kind).map(({ what }) => what)
  const written = paths("write")
  const read = paths("read")
  const list = (names: readonly string[]) => names.join(", ")
  if (written.length > 0 && deletes(segment))
    return [{ code: "part_deletes", params: { files: written }, text: `Deletes ${list(written)}.` }]
  return [
    ...(written.length > 0
      ? [{ code: "part_writes", params: { files: written }, text: `Writes ${list(written)}.` }]
      : []),
    ...(read.length > 0 ? [{ code: "part_reads", params: { files: read }, text: `Reads ${list(read)}.` }] : []),
  ]
}
