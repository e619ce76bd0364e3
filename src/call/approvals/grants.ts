import type { SettledAnswer, CallRow } from "../../model/call.ts"
import { newId } from "../../lib/new-id.ts"
import type { Verdict } from "../../model/ports.ts"
import { grantScopes, type Grant, type GrantScope, type Touches } from "../../model/rule.ts"
import type { RegisteredTool } from "../../model/tool.ts"
import { storedRequest } from "../stored/rows.ts"

const sessionMs = 24 * 60 * 60 * 1000

/** For which scopes an approval may be remembered: none if the policy would ask again anyway. */
export function rememberable(tool: RegisteredTool, verdict: Verdict, touches: Touches): readonly GrantScope[] {
  const honoured =
    verdict.verdict === "ask" &&
    tool.permission.level !== "sensitive" &&
    tool.question === undefined &&
    touches.proved &&
    verdict.reasons.every((reason) => reason.binding !== true)
  return honoured ? grantScopes : []
}

/** A remembered answer to one stored call, bound to what its card showed. */
export function grantOf(row: CallRow, answer: SettledAnswer, scope: GrantScope): Grant {
  const { card } = row
  const inSession = scope !== "tool-always"
  return {
    id: newId(),
    verdict: answer.approved ? "allow" : "deny",
    scope,
    agentId: row.agentId,
    tool: row.tool,
    definitionHash: row.definitionHash,
    workspace: row.workspace,
    sessionId: inSession ? storedRequest(row).sessionId : undefined,
    inputDigest: scope === "input-session" ? card.inputDigest : undefined,
    touches: card.touches.list,
    by: answer.by,
    createdAt: answer.at,
    expiresAt: inSession ? answer.at + sessionMs : null,
    words: describeGrant(row, scope, answer.approved),
    reason: answer.rejectReason,
  }
}

/** What a remembered answer means, in words for the person who is about to give it. */
export function describeGrant(row: CallRow, scope: GrantScope, approved = true): string {
  const what = scope === "input-session" ? `${row.tool} with exactly this input` : row.tool
  const list = row.card.touches.list.map(({ kind, what: touched }) => `${kind} ${touched}`)
  const touching = list.length === 0 || scope === "input-session" ? "" : `, touching no more than: ${list.join(", ")}`
  const { sessionId } = storedRequest(row)
  const where = ` in the folder ${row.workspace}`
  const when =
    scope === "tool-always"
      ? `${where}, until somebody revokes it`
      : ` in session ${sessionId}${where}, for a day at most`
  return `Agent ${row.agentId} ${approved ? "may" : "may not"} call ${what}${touching}${when}.`
}
