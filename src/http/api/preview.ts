import type { PendingItem } from "../../model/approval.ts"
import { commandParts } from "./command-parts.ts"
import type { Preview } from "./schemas.ts"

/** What an approver is shown of a call: by what it touches, and by the form of the tool's own preview. */
export function previewOf({ preview, touches, input }: PendingItem): Preview | undefined {
  const fields = (typeof input === "object" && input !== null ? input : {}) as Record<string, unknown>
  const { command } = fields
  if (typeof command === "string" && touches.list.some(({ kind }) => kind === "command")) {
    const { cwd, network } = fields
    const parts = commandParts(command, touches.list)
    return { kind: "command", command, ...(typeof cwd === "string" ? { cwd } : {}), network: network === true, parts }
  }
  if (preview === undefined) return undefined
  if (/^--- /m.test(preview) && /^\+\+\+ /m.test(preview)) return { kind: "diff", files: diffFiles(preview) }
  const request = /^([A-Z]+) (https?:\/\/\S+)\n?/.exec(preview)
  if (request !== null) return requestOf(request[1]!, request[2]!, preview.slice(request[0].length))
  return { kind: "text", text: preview }
}

function requestOf(method: string, url: string, rest: string): Preview {
  const [head = "", ...body] = rest.split("\n\n")
  const headers = Object.fromEntries(
    head
      .split("\n")
      .filter((line) => line.includes(": "))
      .map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]),
  )
  return {
    kind: "request",
    method,
    url,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(body.length > 0 ? { body: body.join("\n\n") } : {}),
  }
}

type DiffFile = Extract<Preview, { kind: "diff" }>["files"][number]

/** The files of a unified diff, each with how many lines it adds and removes. */
function diffFiles(diff: string): DiffFile[] {
  return diff
    .split(/^(?=--- )/m)
    .filter((text) => text.startsWith("--- "))
    .map((text) => {
      const [from = "", to = "", ...lines] = text.split("\n")
      const name = (line: string) => line.slice(4).replace(/^[ab]\//, "")
      const path = to.endsWith("/dev/null") ? name(from) : name(to)
      const begins = (sign: string) => lines.filter((line) => line.startsWith(sign)).length
      return { path, diff: text, added: begins("+"), removed: begins("-") }
    })
}
