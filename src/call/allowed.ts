import { Ending } from "../model/ending.ts"
import type { LimitVerdict, Ports, Verdict } from "../model/ports.ts"
import type { Touch, Touches } from "../model/rule.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { hasRun } from "./states.ts"
import { agentOf, refuseAborted, type Walk } from "./walk.ts"

/** Whether this call, with this input, is allowed, must be asked for, or is denied. What has run is not decided again. */
export function allowed(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  ports: Ports,
  at = walk.receivedAt,
): Verdict | Promise<Verdict> {
  refuseAborted(walk)
  walk.touches = touchesOf(tool, input)
  if (hasRun(walk.row)) return over
  const limit = ports.limits.check(agentOf(walk), tool, at)
  if (limit instanceof Promise) return limit.then((checked) => judgeFresh(walk, tool, input, checked, at, ports))
  return judgeFresh(walk, tool, input, limit, at, ports)
}

/** What loosens may have been taken back by another process a moment ago, so it is looked at before it counts. */
function judgeFresh(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  limit: LimitVerdict,
  at: number,
  ports: Ports,
): Verdict | Promise<Verdict> {
  const verdict = judge(walk, tool, input, limit, at, ports)
  if (verdict.verdict !== "allow" || verdict.reasons.length === 0) return verdict
  return ports.refresh().then((changed) => (changed ? judge(walk, tool, input, limit, at, ports) : verdict))
}

/** The verdict as things stand, for a call that has its place in the limits already. */
export function decideNow(walk: Walk, tool: RegisteredTool, input: unknown, ports: Ports): Verdict {
  walk.touches = touchesOf(tool, input)
  return judge(walk, tool, input, { ok: true }, ports.now(), ports)
}

const over: Verdict = { verdict: "allow", reasons: [] }

function judge(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  limit: LimitVerdict,
  at: number,
  ports: Ports,
): Verdict {
  const verdict = ports.policy.decide({
    who: agentOf(walk),
    tool,
    input,
    touches: walk.touches,
    limit,
    sessionId: walk.sessionId,
    workspace: ports.settings.workspace,
    at,
  })
  walk.reasons = verdict.reasons
  walk.release = strictestRelease(tool.permission.requireResultApproval, verdict.release)
  if (verdict.verdict !== "deny") return verdict
  throw denied(tool, verdict)
}

const nothing: Touches = { list: [], proved: true }

/** What the tool says it will touch. A command is proved by its guard alone, and so is nothing a tool fails to say. */
export function touchesOf(tool: RegisteredTool, input: unknown): Touches {
  if (tool.touches === undefined) return nothing
  try {
    const list = tool.touches(input)
    if (!Array.isArray(list) || !list.every(isTouch)) return unknown
    return { list, proved: list.every((touch) => touch.kind !== "command") }
  } catch {
    return unknown
  }
}

const unknown: Touches = { list: [], proved: false }

function isTouch({ kind, what }: Touch): boolean {
  return touchKinds.includes(kind) && typeof what === "string"
}

const touchKinds: readonly Touch["kind"][] = ["read", "write", "command", "host"]

function strictestRelease(own: Walk["release"], rule: "always" | "on-error" | undefined): Walk["release"] {
  if (rule === undefined || own === "always") return own
  return rule
}

function denied(tool: RegisteredTool, { code = "permission_denied", reasons, retryAfterMs }: Verdict): Ending {
  const [reason] = reasons
  const sentence = reason?.sentence ?? "The call is denied."
  if (code === "rate_limited") return rateLimited(sentence, retryAfterMs ?? 0)
  const where = reason === undefined ? "" : ` (${reason.voice}: ${reason.source})`
  const details = code === "approval_rejected" ? { rejectReason: sentence } : {}
  return new Ending(
    code,
    `${tool.name} was not executed: ${sentence}${where} Do not try the same call again; ask a person or do it another way.`,
    details,
  )
}

export function rateLimited(sentence: string, retryAfterMs: number): Ending {
  const seconds = Math.ceil(retryAfterMs / 1000)
  return new Ending("rate_limited", `${sentence}. Try again in ${seconds} s.`, { metadata: { retryAfterMs } })
}
