import type { SessionEnvironment } from "../model/ports.ts"
import { transaction, retryWhileBusy, type Database } from "./database.ts"

/** The variables that set_env has set, by session. The environment of the process is never changed. */
export function sessionEnvironment(database: Database): SessionEnvironment {
  const read = (sessionId: string, key: string): string | undefined => {
    const row = database
      .prepare("select value from session_environment where session_id = ? and key = ?")
      .get(sessionId, key)
    return (row as { value: string } | undefined)?.value
  }
  const all = database.prepare("select key, value from session_environment where session_id = ? order by key")
  return {
    all: (sessionId) =>
      Object.fromEntries(
        (all.all(sessionId) as { key: string; value: string }[]).map(({ key, value }) => [key, value]),
      ),
    get: (sessionId, key) => retryWhileBusy(() => read(sessionId, key)),
    set: (sessionId, key, value) =>
      retryWhileBusy(() =>
        transaction(database, () => {
          const previous = read(sessionId, key)
          database
            .prepare(
              "insert or replace into session_environment (session_id, key, value, updated_at) values (?, ?, ?, ?)",
            )
            .run(sessionId, key, value, Date.now())
          return previous
        }),
      ),
  }
}
