import type { PendingItem, Risk } from "../../core/approval.ts"
import type { Sentence } from "../../core/reason.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import type { PlainItem } from "./view.ts"

/**
 * High: destructive, sends data out, could not be proved, or needs several people. Medium: writes, executes, sends messages,
 * reaches a new host, uses a path that people confirm each time (.env, credentials), or is a held result. Low: the rest.
 */
export function riskOf(item: PlainItem, tool: RegisteredTool | undefined): Risk {
  const { previewData: preview } = item
  const touches = item.touches.list
  if (item.kind === "question") return { band: "low", destructive: false, tags: [] }
  if (item.kind === "result") return { band: "medium", destructive: false, tags: [tag("result_held", "result held")] }
  const parts = item.commandParts ?? []
  const deletes = touches.some(({ kind }) => kind === "delete") || parts.some((part) => part.deletes !== undefined)
  // Data lost elsewhere, for example in a database, cannot be brought back.
  const isFinal = tool?.destructive === true && !deletes
  const people = item.approvers.reduce((sum, { count }) => sum + count, 0)
  const high = [
    ...(deletes ? [tag("deletes", "deletes")] : []),
    ...(isFinal ? [tag("final", "cannot be undone")] : []),
    ...(sendsOut(preview) || parts.some((part) => part.sendsOut === true) ? [tag("sends_out", "sends data out")] : []),
    ...(isUnproved(item, tool) ? [tag("unproved", "unproved")] : []),
    ...(people > 1 ? [tag("several_people", `${people} people`, { count: people })] : []),
  ]
  const medium = [
    ...((preview?.kind === "command" && preview.network) || parts.some(({ network }) => network) || isOnNetwork(tool)
      ? [tag("network", "network")]
      : []),
    ...(touches.some(({ kind }) => kind === "write") || (tool?.effect === "write" && !deletes)
      ? [tag("writes", "writes")]
      : []),
    ...(touches.some(({ kind }) => kind === "command") || tool?.effect === "execute"
      ? [tag("executes", "executes")]
      : []),
    ...(item.reasons.some(({ code }) => code === "path_confirmed") ? [tag("confirmed_path", "confirmed path")] : []),
    ...(tool?.effect === "communicate" ? [tag("communicates", "sends messages")] : []),
    ...(touches.some(({ kind, reachedBefore }) => kind === "host" && reachedBefore === false)
      ? [tag("new_host", "new host")]
      : []),
    ...(tool !== undefined && tool.effect === undefined ? [tag("unknown_effect", "unknown effect")] : []),
  ]
  const band = high.length > 0 ? "high" : medium.length > 0 ? "medium" : "low"
  return { band, destructive: deletes || isFinal, tags: [...high, ...medium] }
}

/**
 * Reports whether a call may touch more than its card says: the guards could not read all of it, or the tool does not say what it
 * touches. Built-in tools that say nothing touch nothing, and those that only read change nothing.
 */
export function isUnproved(item: PlainItem, tool: RegisteredTool | undefined): boolean {
  if (!item.touches.proved) return true
  return tool?.touches === undefined && tool?.type !== "builtin" && tool?.effect !== "none" && tool?.effect !== "read"
}

/** A tool of somebody else sends what it likes to the hosts that it names. */
function isOnNetwork(tool: RegisteredTool | undefined): boolean {
  return tool?.effect === "network" && tool.type !== "builtin"
}

function tag(code: string, text: string, params?: Sentence["params"]): Sentence {
  return { code: `risk_${code}`, text, ...(params === undefined ? {} : { params }) }
}

/** A request with a body, or by a method that changes something at the other side. */
function sendsOut(preview: PendingItem["previewData"]): boolean {
  return preview?.kind === "request" && (preview.body !== undefined || !["GET", "HEAD"].includes(preview.method))
}
