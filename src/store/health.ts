import type { Recorder } from "../model/ports.ts"
import { unavailable, whenFree, type Database } from "./database.ts"

/** A probe that found this, and when. */
interface Found {
  at: number
  problem: Promise<string | undefined>
}

/** Why the store cannot be written, in a sentence, or undefined. Asked more often than once a second it remembers. */
export function healthOf(database: Database, recorder: Recorder, now: () => number): () => Promise<string | undefined> {
  let last: Found | undefined
  return () => {
    if (last === undefined || now() - last.at >= 1000) last = { at: now(), problem: look(database, recorder) }
    return last.problem
  }
}

async function look(database: Database, recorder: Recorder): Promise<string | undefined> {
  try {
    await recorder.settle()
    const { user_version: version } = database.prepare("pragma user_version").get() as { user_version: number }
    // The same number once more: a page is written, and nothing changes.
    await whenFree(() => database.exec(`pragma user_version = ${version}`))
    return undefined
  } catch (error) {
    return unavailable(error).message
  }
}
