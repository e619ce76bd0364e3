import type { AgentView } from "../model/organisation.ts"
import type { Limits, LimitVerdict } from "../model/ports.ts"
import type { RegisteredTool } from "../model/tool.ts"

const minute = 60_000
const hour = 60 * minute

/** Reads when an agent's calls of a tool started since a time, oldest first: the windows survive a restart. */
export type StartedSince = (agentId: string, tool: string, since: number) => Promise<number[]>

/** Sliding windows per agent and tool. Calls that start count, refused ones do not. */
export class SlidingLimits implements Limits {
  readonly #windows = new Map<string, number[]>()
  readonly #startedSince: StartedSince

  constructor(startedSince: StartedSince) {
    this.#startedSince = startedSince
  }

  check(who: AgentView, tool: RegisteredTool, at: number): LimitVerdict | Promise<LimitVerdict> {
    return this.#look(who, tool, at, false)
  }

  take(who: AgentView, tool: RegisteredTool, at: number): LimitVerdict | Promise<LimitVerdict> {
    return this.#look(who, tool, at, true)
  }

  #look(who: AgentView, tool: RegisteredTool, at: number, take: boolean): LimitVerdict | Promise<LimitVerdict> {
    const { maxCallsPerHour, maxCallsPerMinute } = tool.permission.rateLimit
    if (maxCallsPerHour === undefined && maxCallsPerMinute === undefined) return free
    const name = `${who.agent.id}\u0000${tool.name}`
    const window = this.#windows.get(name)
    if (window !== undefined) return judge(window, tool, at, take)
    return this.#startedSince(who.agent.id, tool.name, at - hour).then((started) => {
      const known = this.#windows.get(name) ?? started
      this.#windows.set(name, known)
      return judge(known, tool, at, take)
    })
  }
}

const free: LimitVerdict = { ok: true }

/** Looks and takes in one go, so that two calls cannot have the same place. Looking forgets nothing. */
function judge(window: number[], { permission }: RegisteredTool, at: number, take: boolean): LimitVerdict {
  const { maxCallsPerHour, maxCallsPerMinute } = permission.rateLimit
  const perHour = full(window, at, hour, maxCallsPerHour, "hour")
  const perMinute = full(window, at, minute, maxCallsPerMinute, "minute")
  const verdict = later(perHour, perMinute)
  if (verdict !== undefined) return verdict
  if (!take) return free
  while (window.length > 0 && window[0]! <= at - hour) window.shift()
  window.push(Math.max(at, window.at(-1) ?? 0))
  return free
}

type Full = Extract<LimitVerdict, { ok: false }> | undefined

function later(one: Full, other: Full): Full {
  return (one?.retryAfterMs ?? 0) >= (other?.retryAfterMs ?? 0) ? one : other
}

function full(window: readonly number[], at: number, length: number, most: number | undefined, name: string): Full {
  if (most === undefined) return undefined
  const first = window.findIndex((started) => started > at - length)
  const inside = first === -1 ? 0 : window.length - first
  if (inside < most) return undefined
  const leaves = window[window.length - Math.max(1, most)] ?? at
  const sentence = `Rate limit exceeded: ${most} calls per ${name}`
  return { ok: false, sentence, retryAfterMs: Math.max(1, leaves + length - at) }
}
