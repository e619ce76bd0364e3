import type { AgentView } from "../model/organisation.ts"
import type { Limits, LimitVerdict } from "../model/ports.ts"
import type { RateLimit } from "../model/permission.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { transaction, whenFree, type Database } from "./database.ts"

const minute = 60_000
const hour = 60 * minute
const month = 30 * 24 * hour

/**
 * Sliding windows per agent and tool, in the store: every process that shares it counts together, and a restart forgets
 * nothing. A call counts against its agent and every spawner above it; calls that start count, refused ones do not.
 */
export class StoreLimits implements Limits {
  readonly #open: () => Promise<Database>

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
    const agents = [who.agent.id, ...who.spawners.map(({ agent }) => agent.id)]
    const judged = () => {
      const windows = agents.map((agent) => windowOf(database, agent, name, at))
      return agents.map((agent, index) => judge(windows[index]!, permission.rateLimit, at, agent, who.agent.id))
    }
    if (!take) return strictest(await whenFree(judged))
    // Looks and takes in one go, so that two calls cannot have the same place.
    return whenFree(() =>
      transaction(database, () => {
        const verdict = strictest(judged())
        if (verdict.ok) for (const agent of agents) takePlace(database, agent, name, at)
        return verdict
      }),
    )
  }
}

const free: LimitVerdict = { ok: true }

function isLimited({ permission }: RegisteredTool): boolean {
  const { maxCallsPerHour, maxCallsPerMinute } = permission.rateLimit
  return maxCallsPerHour !== undefined || maxCallsPerMinute !== undefined
}

/** When the calls of the last hour started, oldest first. After a clock was set back some may lie ahead: they count. */
function windowOf(database: Database, agent: string, tool: string, at: number): number[] {
  const rows = database
    .prepare("select at from starts where agent = ? and tool = ? and at > ? and at <= ? order by at")
    .all(agent, tool, at - hour, at + month) as { at: number }[]
  return rows.map((row) => row.at)
}

function takePlace(database: Database, agent: string, tool: string, at: number): void {
  // What lies a month ahead was written by a clock that was wrong.
  database
    .prepare("delete from starts where agent = ? and tool = ? and (at <= ? or at > ?)")
    .run(agent, tool, at - hour, at + month)
  database
    .prepare(
      `insert into starts (agent, tool, at)
       values (?1, ?2, max(?3, (select coalesce(max(at), 0) from starts where agent = ?1 and tool = ?2)))`,
    )
    .run(agent, tool, at)
}

function judge(window: readonly number[], limit: RateLimit, at: number, agent: string, self: string): LimitVerdict {
  const whose = agent === self ? "" : ` (counted for ${agent}, which spawned this agent)`
  return strictest([
    full(window, at, hour, limit.maxCallsPerHour, "hour", whose),
    full(window, at, minute, limit.maxCallsPerMinute, "minute", whose),
  ])
}

function full(
  window: readonly number[],
  at: number,
  length: number,
  most: number | undefined,
  name: string,
  whose: string,
): LimitVerdict {
  const inside = window.filter((started) => started > at - length)
  if (most === undefined || inside.length < most) return free
  const leaves = inside[inside.length - Math.max(1, most)] ?? at
  const sentence = `Rate limit exceeded: ${most} calls per ${name}${whose}`
  return { ok: false, sentence, retryAfterMs: Math.max(1, leaves + length - at) }
}

/** The one that lasts longest. */
function strictest(verdicts: readonly LimitVerdict[]): LimitVerdict {
  const wait = (verdict: LimitVerdict) => (verdict.ok ? 0 : verdict.retryAfterMs)
  return verdicts.reduce((one, other) => (wait(other) > wait(one) ? other : one), free)
}
