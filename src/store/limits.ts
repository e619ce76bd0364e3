import type { AgentView } from "../model/organisation.ts"
import type { Limits, LimitVerdict } from "../model/ports.ts"
import type { RateLimit } from "../model/permission.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { transaction, whenFree, type Database } from "./database.ts"
import { Windows, type Window } from "./windows.ts"

const minute = 60_000
const hour = 60 * minute

/**
 * Sliding windows per agent and tool, in the store: every process that shares it counts together, and a restart forgets
 * nothing. A call counts against its agent and every spawner above it; calls that start count, refused ones do not.
 */
export class StoreLimits implements Limits {
  readonly #open: () => Promise<Database>
  #windows: Windows | undefined
  #waiting: Taking[] = []

  /** The connection is opened by the first call of a tool that has a limit. */
  constructor(open: () => Promise<Database>) {
    this.#open = open
  }

  check(who: AgentView, tool: RegisteredTool, at: number): LimitVerdict | Promise<LimitVerdict> {
    return isLimited(tool) ? this.#look(who, tool, at, false) : free
  }

  take(who: AgentView, tool: RegisteredTool, at: number): LimitVerdict | Promise<LimitVerdict> {
    return isLimited(tool) ? this.#look(who, tool, at, true) : free
  }

  async #look(who: AgentView, { name, permission }: RegisteredTool, at: number, take: boolean): Promise<LimitVerdict> {
    const database = await this.#open()
    const windows = (this.#windows ??= new Windows(database))
    const agents = [who.agent.id, ...who.spawners.map(({ agent }) => agent.id)]
    const judged = () =>
      agents.map((agent) => judge(windows.of(agent, name, at), permission.rateLimit, at, agent, who.agent.id))
    if (!take) return this.#isRoomy(who, name, permission.rateLimit, at) ? free : strictest(await whenFree(judged))
    // Looks and takes in one go, so that two calls cannot have the same place.
    return this.#together(database, agents.length === 1, agents.length === 1 ? takeOne : takeEach)

    function takeEach(): LimitVerdict {
      const verdict = strictest(judged())
      if (verdict.ok) for (const agent of agents) windows.take(agent, name, at)
      return verdict
    }

    /** What was looked at last is enough to begin with: a place is only taken if nothing came since. */
    function takeOne(): LimitVerdict {
      const { id } = who.agent
      const known = windows.known(id, name, at)
      if (known !== undefined && judge(known, permission.rateLimit, at, id, id).ok && windows.take(id, name, at)) {
        return free
      }
      for (;;) {
        const verdict = strictest(judged())
        if (!verdict.ok || windows.take(id, name, at)) return verdict
      }
    }
  }

  /** Calls that start at the same moment take their places in one transaction: each of them costs a write. */
  #together(database: Database, isOneWrite: boolean, take: () => LimitVerdict): Promise<LimitVerdict> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ isOneWrite, take, resolve, reject })
      if (this.#waiting.length === 1) setImmediate(() => void this.#takeAll(database))
    })
  }

  async #takeAll(database: Database): Promise<void> {
    const taking = this.#waiting
    this.#waiting = []
    const takeThem = () => taking.map(({ take }) => take())
    const isAlone = taking.length === 1 && taking[0]?.isOneWrite === true
    try {
      const verdicts = await whenFree(() => {
        try {
          return isAlone ? takeThem() : transaction(database, takeThem)
        } catch (error) {
          // Whatever was taken has not been kept.
          this.#windows?.forget()
          throw error
        }
      })
      for (const [index, { resolve }] of taking.entries()) resolve(verdicts[index]!)
    } catch (error) {
      for (const { reject } of taking) reject(error)
    }
  }

  /** Whether a moment ago there was so much room that looking again tells nothing. Taking a place is exact all the same. */
  #isRoomy({ agent, spawners }: AgentView, tool: string, limit: RateLimit, at: number): boolean {
    if (spawners.length > 0) return false
    const recent = this.#windows?.recent(agent.id, tool, at)
    if (recent === undefined) return false
    const { maxCallsPerHour = Infinity, maxCallsPerMinute = Infinity } = limit
    return Math.min(maxCallsPerHour, maxCallsPerMinute) - recent.countAfter(at - hour) >= roomy
  }
}

/** A call that is about to start. */
interface Taking {
  /** Whether it is safe by itself. */
  isOneWrite: boolean
  take(): LimitVerdict
  resolve(verdict: LimitVerdict): void
  reject(error: unknown): void
}

/** How many places must be left that nobody looks at the store before each call. */
const roomy = 100

const free: LimitVerdict = { ok: true }

function isLimited({ permission }: RegisteredTool): boolean {
  const { maxCallsPerHour, maxCallsPerMinute } = permission.rateLimit
  return maxCallsPerHour !== undefined || maxCallsPerMinute !== undefined
}

function judge(window: Window, limit: RateLimit, at: number, agent: string, self: string): LimitVerdict {
  const whose = agent === self ? "" : ` (counted for ${agent}, which spawned this agent)`
  return strictest([
    full(window, at, hour, limit.maxCallsPerHour, "hour", whose),
    full(window, at, minute, limit.maxCallsPerMinute, "minute", whose),
  ])
}

function full(
  window: Window,
  at: number,
  length: number,
  most: number | undefined,
  name: string,
  whose: string,
): LimitVerdict {
  if (most === undefined) return free
  const inside = window.countAfter(at - length)
  if (inside < most) return free
  const leaves = inside === 0 ? at : window.fromEnd(Math.max(1, most))
  const sentence = `Rate limit exceeded: ${most} calls per ${name}${whose}`
  return { ok: false, sentence, retryAfterMs: Math.max(1, leaves + length - at) }
}

/** The one that lasts longest. */
function strictest(verdicts: readonly LimitVerdict[]): LimitVerdict {
  const wait = (verdict: LimitVerdict) => (verdict.ok ? 0 : verdict.retryAfterMs)
  return verdicts.reduce((one, other) => (wait(other) > wait(one) ? other : one), free)
}
