import { Ending } from "../model/ending.ts"
import type { Ports } from "../model/ports.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { decide, type Verdict } from "../policy/decide.ts"
import { agentOf, refuseAborted, type Walk } from "./walk.ts"

/** Whether this call, with this input, is allowed, must be asked for, or is denied. */
export function allowed(walk: Walk, tool: RegisteredTool, _input: unknown, ports: Ports): Verdict | Promise<Verdict> {
  refuseAborted(walk)
  const limit = ports.limits.check(agentOf(walk), tool, walk.receivedAt)
  return limit instanceof Promise
    ? limit.then((checked) => judge(walk, decide({ tool, limit: checked })))
    : judge(walk, decide({ tool, limit }))
}

function judge(walk: Walk, verdict: Verdict): Verdict {
  walk.reasons = verdict.reasons
  if (verdict.verdict !== "deny") return verdict
  throw rateLimited(verdict.reasons[0]?.sentence ?? "Denied.", verdict.retryAfterMs ?? 0)
}

export function rateLimited(sentence: string, retryAfterMs: number): Ending {
  const seconds = Math.ceil(retryAfterMs / 1000)
  return new Ending("rate_limited", `${sentence}. Try again in ${seconds} s.`, { metadata: { retryAfterMs } })
}
