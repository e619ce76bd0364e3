import type { PendingItem } from "../../core/approval.ts"
import { resultAsText } from "../../core/model-text.ts"
import type { ReasonParams, StoredReason } from "../../core/reason.ts"
import { askingServer } from "../../core/mcp.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { firstText } from "../../lib/first-text.ts"
import { messageOf, type Message } from "../../messages/message.ts"
import { previewOf } from "./preview.ts"
import { isUnproved, riskOf, type Facts } from "./risk.ts"
import type { Card, Touch } from "./schema.ts"

/** What a card needs to know besides the item. */
export interface CardContext {
  /** Whether whoever asks may add the rule that the card offers. */
  mayAddRules: boolean
  tool: RegisteredTool | undefined
  department: string | undefined
  /** Whether the caller's answer would count. */
  mayAnswer: boolean
  /** The hosts that calls have reached before. */
  knownHosts: ReadonlySet<string>
}

/** Everything that an approver is shown about something that waits. */
export function cardOf(item: PendingItem, context: CardContext): Card {
  const { tool, mayAddRules } = context
  const preview = item.kind === "question" ? undefined : previewOf(item)
  const touches = touchesOf(item, context)
  const facts: Facts = { item, tool, preview, touches }
  return {
    callId: item.callId,
    kind: item.kind,
    agent: {
      id: item.agentId,
      role: item.role,
      department: context.department,
      roleMadeBy: item.roleMadeBy,
      ancestors: [...item.ancestors],
    },
    tool: item.tool,
    toolDescription: item.description,
    level: item.level,
    effect: tool?.effect,
    risk: riskOf(facts),
    title: titleOf(facts),
    summary: summaryOf(facts),
    intent: item.intent,
    preview,
    reasons: item.reasons.map(reasonOf),
    touches,
    // The guard has read the whole command, but not what its programs do.
    proved: !isUnproved(facts) && !touches.some(({ kind }) => kind === "command"),
    files: filesOf(touches),
    bytes: item.previewData?.bytes ?? deletedBytes(touches),
    input: item.input,
    inputSchema: tool?.input.json,
    result: item.result && {
      success: item.result.success,
      value: item.result.result,
      text: item.result.success ? resultAsText(item.result.result) : (item.result.error ?? ""),
      error: item.result.error,
    },
    question: item.question && { ...item.question, options: item.question.options && [...item.question.options] },
    revision: item.revision,
    editedBy: item.editedBy,
    note: item.note,
    again: item.again?.map(messageOf),
    votes: item.votes.map(({ since: _since, ...vote }) => vote),
    approvers: [...item.approvers],
    mayAnswer: context.mayAnswer,
    remember: item.remember.map(({ scope, words, params }) => ({
      scope,
      message: { code: `remember_${scope}`, text: words, ...(params === undefined ? {} : { params: sent(params) }) },
    })),
    rememberNothing: rememberNothing(item),
    rule:
      item.rule && mayAddRules
        ? {
            allow: item.rule.allow,
            agent: item.rule.agent,
            touching: [...item.rule.touching],
            message: {
              code: "rule_offered",
              params: { agent: item.rule.agent, tool: item.rule.allow, touching: [...item.rule.touching] },
              text: item.rule.words,
            },
          }
        : undefined,
    alike: [item.kind, item.agentId, item.tool, ...new Set(touches.map(({ kind }) => kind))].join("|"),
    taskId: item.taskId,
    userId: item.userId,
    sessionId: item.sessionId,
    createdAt: item.createdAt,
    until: item.until,
  }
}

/** Whether an item has high risk. Which hosts were reached before does not matter for that. */
export function isHighRisk(item: PendingItem, tool: RegisteredTool | undefined): boolean {
  const touches = touchesOf(item, { tool, knownHosts: new Set() })
  return riskOf({ item, tool, preview: previewOf(item), touches }).band === "high"
}

function touchesOf(
  { touches, sizes, commandParts = [] }: PendingItem,
  { tool, knownHosts }: Pick<CardContext, "tool" | "knownHosts">,
): Touch[] {
  const deleted = new Set(commandParts.flatMap(({ deletes = [] }) => deletes))
  return touches.list.map(({ kind, what }) => {
    if (kind === "host") return { kind, what, reachedBefore: knownHosts.has(what) }
    if (kind !== "write") return { kind, what }
    return { kind: tool?.destructive === true || deleted.has(what) ? "delete" : kind, what, ...sizes?.[what] }
  })
}

/** Undefined where nothing is deleted, or not all of it was counted. */
function deletedBytes(touches: readonly Touch[]): number | undefined {
  const deleted = touches.filter(({ kind }) => kind === "delete")
  if (deleted.length === 0 || deleted.some(({ bytes }) => bytes === undefined)) return undefined
  return deleted.reduce((sum, { bytes = 0 }) => sum + bytes, 0)
}

/** A folder counts with all files in it, where they were counted. */
function filesOf(touches: readonly Touch[]): number {
  const files = new Map<string, number>()
  for (const { kind, what, files: count = 1 } of touches)
    if (kind !== "command" && kind !== "host" && kind !== "database")
      files.set(what, Math.max(count, files.get(what) ?? 0))
  return [...files.values()].reduce((sum, count) => sum + count, 0)
}

function titleOf({ item, tool: registered, preview, touches }: Facts): Message {
  const { tool, agentId: agent } = item
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
    const count = preview.parts.length
    const what = count === 1 ? "a command" : `${count} commands`
    const code = preview.network ? "title_commands_network" : "title_commands"
    return { code, params: { count }, text: `Run ${what}${preview.network ? " with network" : ""}` }
  }
  if (preview?.kind === "request") {
    const host = hostOf(preview.url)
    return { code: "title_request", params: { method: preview.method, host }, text: `${preview.method} to ${host}` }
  }
  for (const [kind, code, verb] of titlesByTouch) {
    const found = [...new Set(touches.filter((touch) => touch.kind === kind).map(({ what }) => what))]
    if (found.length === 0) continue
    const text = found.length === 1 ? `${verb} ${found[0]}` : `${verb} ${found.length} files`
    return {
      code: found.length === 1 ? code : `${code}_several`,
      params: { path: found[0]!, count: found.length },
      text,
    }
  }
  const database = touches.find(({ kind }) => kind === "database")?.what
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

function summaryOf({ item, preview, touches }: Facts): string {
  if (item.question !== undefined) return item.question.question
  if (preview?.kind === "command") return preview.command
  if (preview?.kind === "request") return preview.url
  if (preview?.kind === "text" && touches.some(({ kind }) => kind === "database")) return firstLine(preview.text)
  const paths = [...new Set(touches.map(({ what }) => what))]
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
    return url
  }
}

function reasonOf({ check, source, code, params, sentence, binding }: StoredReason): Card["reasons"][number] {
  return {
    check,
    source,
    message: { code: code ?? "reason", ...(params === undefined ? {} : { params: sent(params) }), text: sentence },
    binding: binding === true,
  }
}

/** The same values, as the API's type has them. */
function sent(params: ReasonParams): Message["params"] {
  return Object.fromEntries(Object.entries(params)) as Message["params"]
}

function rememberNothing({ kind, level, tool, remember, reasons, rule }: PendingItem): Message | undefined {
  if (kind !== "call" || remember.length > 0) return undefined
  if (rule !== undefined)
    return {
      code: "remember_by_rule",
      params: { tool },
      text: `A yes is not remembered, because ${tool} is sensitive. A rule can allow calls like this one.`,
    }
  if (level === "sensitive")
    return {
      code: "remember_sensitive",
      params: { tool },
      text: `Nothing wider is offered: ${tool} is sensitive, so a person approves every call.`,
    }
  if (reasons.some(({ binding }) => binding === true))
    return { code: "remember_binding", text: "Nothing wider is offered: one of the reasons is asked every time." }
  return undefined
}
