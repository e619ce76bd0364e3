import { hostname } from "node:os"
import type { StartEntry } from "../model/record.ts"
import { directChain, placeOf } from "./chains.ts"
import { openDatabase } from "./database.ts"
import { framesOf } from "./frames.ts"
import { ownerLives } from "./owner.ts"

/** How old a heartbeat from another machine may be. */
const deadAfterMs = 20_000

/** How far back the chain of direct entries is looked through. */
const newest = 1000

/**
 * A living process that writes to a database, in words: one with an open journal, with a heartbeat, with a call that has
 * not ended, or that wrote down a start and no end yet. Without a prepared statement: one that is left keeps a closed
 * database open, and when it is let go SQLite removes the log by its name, which would be another database's by then.
 */
export async function livingWriter(file: string): Promise<string | undefined> {
  const database = await openDatabase(file)
  try {
    const found: unknown[] = []
    database.function("quartermaster_note", (value: unknown) => void found.push(value))
    const all = (what: string) => {
      found.length = 0
      database.exec(`select quartermaster_note(${what}`)
      return found.map(String)
    }
    const hasBeats = all("name) from sqlite_master where name = 'processes'").length > 0
    const beats = hasBeats ? all(`owner) from processes where beat_at > ${Date.now() - deadAfterMs}`) : []
    const walking = all("owner) from calls where state <> 'ended'")
    const running = all(`text) from segments where place in (${startsWithoutEnd})`).flatMap(ownerOfStart)
    const owner =
      all("owner) from chains where closed = 0").find(ownerLives) ??
      beats.find(ownerLives) ??
      [...walking, ...running].find((each) => isHere(each) && ownerLives(each))
    return owner === undefined ? undefined : inWords(owner)
  } finally {
    database.close()
  }
}

const ordinal = `(select ordinal from chains where uuid = '${directChain}')`

const startsWithoutEnd = `
  select place from (
    select place, call from steps where kind = 'start'
    and place between ${ordinal} * ${placeOf(1, 0)} and (${ordinal} + 1) * ${placeOf(1, 0)} - 1
    order by place desc limit ${newest}
  ) as starts where not exists (select 1 from ended where ended.call = starts.call)`

/** Each direct entry is a segment of its own. What cannot be read names nobody: a damaged store can be replaced. */
function ownerOfStart(text: string): string[] {
  try {
    const { owner } = JSON.parse(framesOf(text).next().value?.lines[0] ?? "{}") as Partial<StartEntry>
    return owner === undefined ? [] : [owner]
  } catch {
    return []
  }
}

/** Of a process on another machine only its heartbeat and its journal tell. */
function isHere(owner: string): boolean {
  return owner.split("|")[0] === hostname()
}

function inWords(owner: string): string {
  const [host, pid] = owner.split("|")
  return isHere(owner) ? `Process ${pid}` : `Process ${pid} on ${host}`
}
