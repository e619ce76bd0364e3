import { hasRun } from "../../core/call.ts"
import { Ending } from "../../core/ending.ts"
import type { CheckedTouches } from "../../core/guard.ts"
import type { DecisionInput } from "../../policy/rules/decision-input.ts"
import type { LimitVerdict, Verdict } from "../../core/verdict.ts"
import type { Ports } from "../state/ports.ts"
import { toolRef, dialectText } from "../../core/dialect-text.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { askSecretFields } from "../state/secret-fields.ts"
import { loadGuards, checkTouches, declaredTouches, type DeclaredTouches } from "../../policy/touches.ts"
import { requireAgent, type ActiveCall } from "../state/active-call.ts"
import { throwIfAborted } from "../state/stopped-endings.ts"

/**
 * Decides on this call with this input: allow, ask or deny. A deny ends the call. A call whose tool has run is not
 * decided on again.
 */
export function allowed(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  ports: Ports,
  at = call.receivedAt,
): Verdict | Promise<Verdict> {
  throwIfAborted(call)
  if (tool.secretFields !== undefined && call.secretFields === undefined)
    return askSecretFields(call, tool, input).then(() => allowed(call, tool, input, ports, at))
  const declared = declaredTouches(tool, input, call)
  const loading = loadGuards(declared, ports.guards)
  return loading === undefined
    ? checkAndDecide(call, tool, input, declared, ports, at)
    : loading.then(() => checkAndDecide(call, tool, input, declared, ports, at))
}

function checkAndDecide(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  declared: DeclaredTouches,
  ports: Ports,
  at: number,
): Verdict | Promise<Verdict> {
  const checked = noteTouches(call, tool, input, declared, ports)
  if (hasRun(call.row)) return alreadyRun
  const limit = ports.limits.check(requireAgent(call), tool, at)
  return limit instanceof Promise
    ? limit.then((reached) => decideFresh(call, factsOf(call, tool, input, checked, reached, at, ports), ports))
    : decideFresh(call, factsOf(call, tool, input, checked, limit, at, ports), ports)
}

const alreadyRun: Verdict = { verdict: "allow", reasons: [] }

/** Before a grant or rule allows a call, this process reads whether another one has just revoked it. */
function decideFresh(call: ActiveCall, facts: DecisionInput, ports: Ports): Verdict | Promise<Verdict> {
  const verdict = decide(call, facts, ports)
  if (verdict.verdict !== "allow" || verdict.reasons.length === 0) return verdict
  return ports.refresh().then((changed) => (changed ? decide(call, facts, ports) : verdict))
}

/** The verdict at this moment, for a call that the limits have already counted. */
export function decideNow(call: ActiveCall, tool: RegisteredTool, input: unknown, ports: Ports): Verdict {
  const checked = noteTouches(call, tool, input, declaredTouches(tool, input, call), ports)
  return decide(call, factsOf(call, tool, input, checked, { ok: true }, ports.now(), ports), ports)
}

function noteTouches(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  declared: DeclaredTouches,
  ports: Ports,
): CheckedTouches {
  const checked = checkTouches(declared, { tool, input }, ports.guards, call.request)
  call.declared = declared
  call.touches = checked.touches
  return checked
}

function factsOf(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  { touches, findings }: CheckedTouches,
  limit: LimitVerdict,
  at: number,
  ports: Ports,
): DecisionInput {
  return {
    who: requireAgent(call),
    tool,
    input,
    touches,
    findings,
    limit,
    sessionId: call.sessionId,
    taskId: call.request.taskId,
    workspace: ports.settings.workspace,
    at,
  }
}

function decide(call: ActiveCall, facts: DecisionInput, ports: Ports): Verdict {
  const { tool } = facts
  const verdict = ports.policy.decide(facts)
  call.reasons = verdict.reasons
  call.release =
    call.request.holdResult === true
      ? "always"
      : strictestRelease(tool.permission.requireResultApproval, verdict.release)
  call.holds = verdict.holds ?? []
  if (verdict.verdict !== "deny") return verdict
  throw denied(tool, verdict)
}

function strictestRelease(own: ActiveCall["release"], rule: "always" | "on-error" | undefined): ActiveCall["release"] {
  if (rule === undefined || own === "always") return own
  return rule
}

function denied(tool: RegisteredTool, { code = "permission_denied", reasons, retryAfterMs }: Verdict): Ending {
  const [reason] = reasons
  const sentence = reason?.sentence ?? "The call is denied."
  if (code === "rate_limited") return rateLimitedEnding(sentence, retryAfterMs ?? 0)
  const where = reason === undefined ? "" : ` (${reason.check}: ${reason.source})`
  // A guard's sentence says itself what to do.
  const instead = reason?.check === "guard" ? "" : "; ask a person or do it another way"
  const details = code === "approval_rejected" ? { rejectReason: sentence } : {}
  return new Ending(
    code,
    dialectText`${toolRef(tool.name)} was not executed: ${sentence}${where} Do not try the same call again${instead}.`,
    details,
  )
}

export function rateLimitedEnding(sentence: string, retryAfterMs: number): Ending {
  const seconds = Math.ceil(retryAfterMs / 1000)
  return new Ending("rate_limited", `${sentence}. Try again in ${seconds} s.`, { metadata: { retryAfterMs } })
}
