import { askingServer } from "../../core/mcp.ts"
import type { Sentence } from "../../core/reason.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { firstText } from "../../lib/first-text.ts"
import type { PlainItem } from "./view.ts"

type Titled = Pick<PlainItem, "kind" | "tool" | "agentId" | "touches" | "previewData" | "commandParts">

/** Says what would happen, in a few words. */
export function titleOf(item: Titled, registered: RegisteredTool | undefined): Sentence {
  const { tool, agentId: agent, previewData: preview, touches } = item
  const server = item.kind === "question" ? askingServer(tool) : undefined
  if (server !== undefined)
    return {
      code: "title_server_question",
      params: { server, agent },
      text: `The MCP server ${server} asks, in a call of ${agent}; the answer goes to that server`,
    }
  if (item.kind === "question") return { code: "title_question", params: { agent }, text: `${agent} asks` }
  if (item.kind === "result")
    return { code: "title_release", params: { tool, agent }, text: `Release a result of ${tool} to ${agent}` }
  if (preview?.kind === "command") {
    const count = Math.max(1, item.commandParts?.length ?? 0)
    const what = count === 1 ? "a command" : `${count} commands`
    const code = preview.network ? "title_commands_network" : "title_commands"
    return { code, params: { count }, text: `Run ${what}${preview.network ? " with network" : ""}` }
  }
  if (preview?.kind === "request") {
    const host = hostOf(preview.url)
    return { code: "title_request", params: { method: preview.method, host }, text: `${preview.method} to ${host}` }
  }
  for (const [kind, code, verb] of titlesByTouch) {
    const found = [...new Set(touches.list.filter((touch) => touch.kind === kind).map(({ what }) => what))]
    if (found.length === 0) continue
    const text = found.length === 1 ? `${verb} ${found[0]}` : `${verb} ${found.length} files`
    return {
      code: found.length === 1 ? code : `${code}_several`,
      params: { path: found[0]!, count: found.length },
      text,
    }
  }
  const database = touches.list.find(({ kind }) => kind === "database")?.what
  if (database === undefined) return { code: "title_call", params: { tool }, text: `Call ${tool}` }
  return registered?.effect === "write"
    ? { code: "title_database_change", params: { database }, text: `Change the database ${database}` }
    : { code: "title_database_read", params: { database }, text: `Read the database ${database}` }
}

const titlesByTouch = [
  ["delete", "title_delete", "Delete"],
  ["write", "title_change", "Change"],
  ["read", "title_read", "Read"],
] as const

/** One line for lists. */
export function summaryOf(item: PlainItem): string {
  const { previewData: preview, touches } = item
  if (item.question !== undefined) return item.question.question
  if (preview?.kind === "command") return preview.command
  if (preview?.kind === "request") return preview.url
  if (preview?.kind === "text" && touches.list.some(({ kind }) => kind === "database")) return firstLine(preview.text)
  const paths = [...new Set(touches.list.map(({ what }) => what))]
  if (paths.length > 0) return paths.join(", ")
  if (preview?.kind === "text" && item.kind === "call") return firstLine(preview.text)
  return item.input === undefined ? "" : firstText(JSON.stringify(item.input))
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? ""
}

function hostOf(url: string): string {
  try {
    return new URL(url).host
  } catch {
    return "an unknown host"
  }
}
