import type { SettledAnswer, CallRow } from "../../core/call.ts"
import { newId } from "../../lib/new-id.ts"
import type { Verdict } from "../../core/verdict.ts"
import type { Giver, PendingItem, Remember } from "../../core/approval.ts"
import { grantMinutes, grantScopes, isForSession, type Grant, type GrantScope } from "../../core/rule.ts"
import { type Touches } from "../../core/touches.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { onlyLevelAsks } from "../../policy/only-level-asks.ts"
import { storedRequest } from "../../store/stored-request.ts"

const dayMs = 24 * 60 * 60 * 1000

/** For which scopes an approval may be remembered: none if the policy would ask again anyway. */
export function rememberable(
  tool: RegisteredTool,
  verdict: Verdict,
  touches: Touches,
  taskId: string | undefined,
): readonly GrantScope[] {
  const honoured = tool.permission.level !== "sensitive" && onlyLevelAsks(tool, verdict, touches)
  return honoured ? grantScopes.filter((scope) => scope !== "task" || taskId !== undefined) : []
}

/** Says why an answer to this call cannot be remembered in this way; undefined if it can. */
export function rememberProblem(row: CallRow, { remember, minutes }: Remember): string | undefined {
  if (remember === undefined) return undefined
  if (!grantScopes.includes(remember))
    return `An answer cannot be remembered as '${remember}'. Choose one of: ${grantScopes.join(", ")}.`
  if (remember === "task" && storedRequest(row).given.taskId === undefined)
    return "The call belongs to no task, so the answer cannot be remembered for one."
  const { least, most } = grantMinutes
  const isWrong = minutes !== undefined && !(Number.isInteger(minutes) && minutes >= least && minutes <= most)
  if (isWrong)
    return `An answer can be remembered for ${least} to ${most} minutes, and ${minutes} is not such a number.`
  return undefined
}

/** A remembered answer to one stored call, bound to what its card showed. */
export function grantOf(
  row: CallRow,
  answer: SettledAnswer & Giver,
  scope: GrantScope,
  minutes: number | undefined,
): Grant {
  const { card } = row
  const { sessionId, given } = storedRequest(row)
  return {
    id: newId(),
    verdict: answer.approved ? "allow" : "deny",
    scope,
    agentId: row.agentId,
    tool: row.tool,
    definitionHash: row.definitionHash,
    workspace: row.workspace,
    sessionId: isForSession(scope) ? sessionId : undefined,
    taskId: scope === "task" ? given.taskId : undefined,
    inputDigest: scope === "input-session" ? card.inputDigest : undefined,
    touches: card.touches.list,
    by: answer.by,
    since: answer.since,
    createdAt: answer.at,
    expiresAt: scope === "tool-always" ? null : answer.at + lifetimeOf(scope, minutes),
    words: describeGrant(row, scope, { approved: answer.approved, minutes }),
    reason: answer.rejectReason,
  }
}

/** A scope that an approver is offered, with what it means. */
export function describedGrant(row: CallRow, scope: GrantScope): PendingItem["remember"][number] {
  const { sessionId, given } = storedRequest(row)
  const touching = touchingOf(row, scope)
  const params = {
    agent: row.agentId,
    tool: row.tool,
    folder: row.workspace,
    session: sessionId,
    minutes: grantMinutes.usual,
    ...(given.taskId === undefined ? {} : { task: given.taskId }),
    ...(touching.length === 0 ? {} : { touching }),
  }
  return { scope, words: describeGrant(row, scope), params }
}

/** Each touch that the grant is bound to, with its kind. The same input touches the same anyway. */
function touchingOf({ card }: CallRow, scope: GrantScope): readonly string[] {
  return scope === "input-session" ? [] : card.touches.list.map(({ kind, what }) => `${kind} ${what}`)
}

/** Describes a remembered answer for the person who is about to give it. */
function describeGrant(
  row: CallRow,
  scope: GrantScope,
  { approved = true, minutes }: { approved?: boolean; minutes?: number } = {},
): string {
  const what = scope === "input-session" ? `${row.tool} with exactly this input` : row.tool
  const list = touchingOf(row, scope)
  const touching = list.length === 0 ? "" : `, touching no more than: ${list.join(", ")}`
  const place = ` in the folder ${row.workspace}`
  return `Agent ${row.agentId} ${approved ? "may" : "may not"} call ${what}${touching}${placeAndTime(row, scope, place, minutes)}.`
}

function placeAndTime(row: CallRow, scope: GrantScope, place: string, minutes: number = grantMinutes.usual): string {
  const { sessionId, given } = storedRequest(row)
  switch (scope) {
    case "tool-always":
      return `${place}, until somebody revokes it`
    case "task":
      return ` in task ${given.taskId}${place}, for a day at most`
    case "minutes":
      return `${place}, for ${minutes === 1 ? "1 minute" : `${minutes} minutes`}`
    default:
      return ` in session ${sessionId}${place}, for a day at most`
  }
}

function lifetimeOf(scope: GrantScope, minutes: number = grantMinutes.usual): number {
  return scope === "minutes" ? minutes * 60_000 : dayMs
}
