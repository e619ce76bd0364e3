import { hostname } from "node:os"
import type { StartEntry } from "../../core/audit-entry.ts"
import { directChain, recordPlace } from "./chains.ts"
import { openDatabase } from "./database.ts"
import { parseFrames } from "./frames.ts"
import { isOwnerAlive } from "./owner.ts"

/** Maximum age of the heartbeat of a live process on another machine. */
const deadAfterMs = 20_000

/** Limit of the newest starts of the direct chain that are checked. */
const maxDirectStarts = 1000

/**
 * The name of a live process that writes to a database: one with an open journal, a heartbeat, a call that has not ended,
 * or a start without an end. It prepares no statements: a statement that is not yet garbage collected keeps the database
 * open, and SQLite would later remove the log file by its name, which may belong to another database by then.
 */
export async function findLiveWriter(file: string): Promise<string | undefined> {
  const database = await openDatabase(file)
  try {
    const found: unknown[] = []
    database.function("quartermaster_note", (value: unknown) => void found.push(value))
    const all = (what: string) => {
      found.length = 0
      database.exec(`select quartermaster_note(${what}`)
      return found.map(String)
    }
    const hasHeartbeats = all("name) from sqlite_master where name = 'processes'").length > 0
    const heartbeats = hasHeartbeats ? all(`owner) from processes where beat_at > ${Date.now() - deadAfterMs}`) : []
    const openCalls = all("owner) from calls where state <> 'ended'")
    const running = all(`text) from segments where place in (${startsWithoutEnd})`).flatMap(ownerOfStart)
    const owner =
      all("owner) from chains where closed = 0").find(isOwnerAlive) ??
      heartbeats.find(isOwnerAlive) ??
      [...openCalls, ...running].find((owner) => isHere(owner) && isOwnerAlive(owner))
    return owner === undefined ? undefined : inWords(owner)
  } finally {
    database.close()
  }
}

const ordinal = `(select ordinal from chains where uuid = '${directChain}')`

const startsWithoutEnd = `
  select place from (
    select place, call from steps where kind = 'start'
    and place between ${ordinal} * ${recordPlace(1, 0)} and (${ordinal} + 1) * ${recordPlace(1, 0)} - 1
    order by place desc limit ${maxDirectStarts}
  ) as starts where not exists (select 1 from ended where ended.call = starts.call)`

/** Each direct entry is its own segment. An unreadable one has no owner, so that a damaged store can be replaced. */
function ownerOfStart(text: string): string[] {
  try {
    const { owner } = JSON.parse(parseFrames(text).next().value?.lines[0] ?? "{}") as Partial<StartEntry>
    return owner === undefined ? [] : [owner]
  } catch {
    return []
  }
}

/** For a process on another machine only its heartbeat and its journal count. */
function isHere(owner: string): boolean {
  return owner.split("|")[0] === hostname()
}

function inWords(owner: string): string {
  const [host, pid] = owner.split("|")
  return isHere(owner) ? `Process ${pid}` : `Process ${pid} on ${host}`
}
