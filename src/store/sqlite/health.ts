import type { Recorder } from "../port.ts"
import { toStoreUnavailable, retryWhileBusy, type Database } from "./database.ts"

/** The result of a probe and its time. */
interface Probe {
  at: number
  problem: Promise<string | undefined>
}

/** A sentence that says why the store cannot be written, or undefined. Probes at most once a second. */
export function healthOf(database: Database, recorder: Recorder, now: () => number): () => Promise<string | undefined> {
  let last: Probe | undefined
  return () => {
    if (last === undefined || now() - last.at >= 1000) last = { at: now(), problem: probe(database, recorder) }
    return last.problem
  }
}

async function probe(database: Database, recorder: Recorder): Promise<string | undefined> {
  try {
    await recorder.settle()
    const { user_version: version } = database.prepare("pragma user_version").get() as { user_version: number }
    // Writes the same number again: a write to the file that changes nothing.
    await retryWhileBusy(() => database.exec(`pragma user_version = ${version}`))
    return undefined
  } catch (error) {
    return toStoreUnavailable(error).message
  }
}
