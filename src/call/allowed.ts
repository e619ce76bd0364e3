import { Ending } from "../model/ending.ts"
import type { LimitVerdict, Ports, Verdict } from "../model/ports.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { guardsReady, lookAt } from "./looked.ts"
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
  const loading = tool.touches && guardsReady(tool, input, ports.guards)
  return loading === undefined
    ? look(walk, tool, input, ports, at)
    : loading.then(() => look(walk, tool, input, ports, at))
}

function look(walk: Walk, tool: RegisteredTool, input: unknown, ports: Ports, at: number): Verdict | Promise<Verdict> {
  lookAgain(walk, tool, input, ports)
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
  lookAgain(walk, tool, input, ports)
  return judge(walk, tool, input, { ok: true }, ports.now(), ports)
}

function lookAgain(walk: Walk, tool: RegisteredTool, input: unknown, ports: Ports): void {
  const { touches, findings } = lookAt(tool, input, ports.guards, walk.request)
  walk.touches = touches
  walk.findings = findings
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
    findings: walk.findings,
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
