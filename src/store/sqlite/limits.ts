import type { AgentView } from "../../core/organisation.ts"
import type { Limits } from "../port.ts"
import type { LimitVerdict } from "../../core/verdict.ts"
import type { RateLimit } from "../../core/permission.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { transaction, retryWhileBusy, type Database } from "./database.ts"
import { RateWindows, type RateWindow } from "./rate-windows.ts"

const minute = 60_000
const hour = 60 * minute

/**
 * Sliding windows per agent and tool. They are in the store, so all processes count together and a restart forgets
 * nothing. A call counts for its agent and all its ancestors. Only calls that start count, not refused ones.
 */
export class StoreLimits implements Limits {
  readonly #open: () => Promise<Database>
  #windows: RateWindows | undefined
  #pending: PendingTake[] = []

  /** The connection is opened by the first call of a tool that has a limit. */
  constructor(open: () => Promise<Database>) {
    this.#open = open
  }

  check(who: AgentView, tool: RegisteredTool, at: number): LimitVerdict | Promise<LimitVerdict> {
    return isLimited(tool) ? this.#judge(who, tool, at, false) : allowed
  }

  take(who: AgentView, tool: RegisteredTool, at: number): LimitVerdict | Promise<LimitVerdict> {
    return isLimited(tool) ? this.#judge(who, tool, at, true) : allowed
  }

  async #judge(who: AgentView, { name, permission }: RegisteredTool, at: number, take: boolean): Promise<LimitVerdict> {
    const database = await this.#open()
    const windows = (this.#windows ??= new RateWindows(database))
    const agents = [who.agent.id, ...who.ancestors.map(({ agent }) => agent.id)]
    const verdicts = () =>
      agents.map((agent) => judge(windows.current(agent, name, at), permission.rateLimit, at, agent, who.agent.id))
    if (!take)
      return this.#isRoomy(who, name, permission.rateLimit, at) ? allowed : strictest(await retryWhileBusy(verdicts))
    // Checks and takes in one transaction, so that two calls cannot take the same place.
    return this.#takeTogether(database, agents.length === 1, agents.length === 1 ? takeOne : takeEach)

    function takeEach(): LimitVerdict {
      const verdict = strictest(verdicts())
      if (verdict.ok) for (const agent of agents) windows.take(agent, name, at)
      return verdict
    }

    /** Tries with the cached window first. A place is taken only if no other process took one since. */
    function takeOne(): LimitVerdict {
      const { id } = who.agent
      const cached = windows.cached(id, name, at)
      if (cached !== undefined && judge(cached, permission.rateLimit, at, id, id).ok && windows.take(id, name, at)) {
        return allowed
      }
      for (;;) {
        const verdict = strictest(verdicts())
        if (!verdict.ok || windows.take(id, name, at)) return verdict
      }
    }
  }

  /** Calls that start in the same turn of the event loop take their places in one transaction, which is one write. */
  #takeTogether(database: Database, isOneWrite: boolean, take: () => LimitVerdict): Promise<LimitVerdict> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ isOneWrite, take, resolve, reject })
      if (this.#pending.length === 1) setImmediate(() => void this.#takeAll(database))
    })
  }

  async #takeAll(database: Database): Promise<void> {
    const batch = this.#pending
    this.#pending = []
    const takeAll = () => batch.map(({ take }) => take())
    const isAlone = batch.length === 1 && batch[0]?.isOneWrite === true
    try {
      const verdicts = await retryWhileBusy(() => {
        try {
          return isAlone ? takeAll() : transaction(database, takeAll)
        } catch (error) {
          // The transaction was rolled back, so the cached windows are wrong.
          this.#windows?.forget()
          throw error
        }
      })
      for (const [index, { resolve }] of batch.entries()) resolve(verdicts[index]!)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  /**
   * Reports whether the window had so much room a moment ago that `check` need not read the store. `take` is always
   * exact.
   */
  #isRoomy({ agent, ancestors }: AgentView, tool: string, limit: RateLimit, at: number): boolean {
    if (ancestors.length > 0) return false
    const recent = this.#windows?.recent(agent.id, tool, at)
    if (recent === undefined) return false
    const { maxCallsPerHour = Infinity, maxCallsPerMinute = Infinity } = limit
    return Math.min(maxCallsPerHour, maxCallsPerMinute) - recent.countAfter(at - hour) >= roomyPlaces
  }
}

/** A call that is about to take its place. */
interface PendingTake {
  /** True if it is a single statement, which needs no transaction. */
  isOneWrite: boolean
  take(): LimitVerdict
  resolve(verdict: LimitVerdict): void
  reject(error: unknown): void
}

/** From this many free places on, `check` may use the cached window. */
const roomyPlaces = 100

const allowed: LimitVerdict = { ok: true }

function isLimited({ permission }: RegisteredTool): boolean {
  const { maxCallsPerHour, maxCallsPerMinute } = permission.rateLimit
  return maxCallsPerHour !== undefined || maxCallsPerMinute !== undefined
}

function judge(window: RateWindow, limit: RateLimit, at: number, agent: string, self: string): LimitVerdict {
  const whose = agent === self ? "" : ` (counted for ${agent}, a parent or ancestor of this agent)`
  return strictest([
    full(window, at, hour, limit.maxCallsPerHour, "hour", whose),
    full(window, at, minute, limit.maxCallsPerMinute, "minute", whose),
  ])
}

function full(
  window: RateWindow,
  at: number,
  length: number,
  max: number | undefined,
  name: string,
  whose: string,
): LimitVerdict {
  if (max === undefined) return allowed
  const inside = window.countAfter(at - length)
  if (inside < max) return allowed
  const leaves = inside === 0 ? at : window.fromEnd(Math.max(1, max))
  // The words of a source design, also for one call.
  const sentence = `Rate limit exceeded: ${max} calls per ${name}${whose}`
  return { ok: false, sentence, retryAfterMs: Math.max(1, leaves + length - at) }
}

/** The verdict with the longest wait. */
function strictest(verdicts: readonly LimitVerdict[]): LimitVerdict {
  const wait = (verdict: LimitVerdict) => (verdict.ok ? 0 : verdict.retryAfterMs)
  return verdicts.reduce((longest, verdict) => (wait(verdict) > wait(longest) ? verdict : longest), allowed)
}
