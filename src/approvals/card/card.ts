import type { PendingItem } from "../../core/approval.ts"
import { resultAsText } from "../../core/model-text.ts"
import type { ReasonParams, StoredReason } from "../../core/reason.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { messageOf, type Message } from "../../messages/message.ts"
import { previewOf } from "./preview.ts"
import { isUnproved } from "./risk.ts"
import { titleOf } from "./title.ts"
import type { Card, Touch } from "./schema.ts"

/** Facts of a card besides the item. */
export interface CardContext {
  /** The caller may add the rule that the card offers. */
  mayAddRules: boolean
  tool: RegisteredTool | undefined
  department: string | undefined
  /** The caller's answer would count. */
  mayAnswer: boolean
}

/** Everything that an approver is shown about something that waits. */
export function cardOf(item: PendingItem, context: CardContext): Card {
  const { tool, mayAddRules } = context
  const touches = item.touches.list.map((touch) => ({ ...touch }))
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
    risk: { ...item.risk, tags: item.risk.tags.map(messageOf) },
    title: messageOf(item.title),
    summary: item.summary,
    intent: item.intent,
    preview: item.kind === "question" ? undefined : previewOf(item),
    reasons: item.reasons.map(reasonOf),
    touches,
    // The guard has read the whole command, but not what its programs do.
    proved: !isUnproved(item, tool) && !touches.some(({ kind }) => kind === "command"),
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

/** The title of a call, as a card has it. */
export function callTitle(...call: Parameters<typeof titleOf>): Card["title"] {
  return messageOf(titleOf(...call))
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
