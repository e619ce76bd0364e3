import type { SessionEnvironment } from "../port.ts"
import type { CallSession } from "../../core/tool.ts"
import { transaction, retryWhileBusy, type Database } from "./database.ts"

/** The variables that set_env has set, by agent and session. The environment of the process is never changed. */
export function sessionEnvironment(database: Database): SessionEnvironment {
  const read = ({ agentId, sessionId }: CallSession, key: string): string | undefined => {
    const row = database
      .prepare("select value from agent_environment where agent_id = ? and session_id = ? and key = ?")
      .get(agentId, sessionId, key)
    return (row as { value: string } | undefined)?.value
  }
  const all = database.prepare(
    "select key, value from agent_environment where agent_id = ? and session_id = ? order by key",
  )
  return {
    all: ({ agentId, sessionId }) =>
      Object.fromEntries(
        (all.all(agentId, sessionId) as { key: string; value: string }[]).map(({ key, value }) => [key, value]),
      ),
    get: (session, key) => retryWhileBusy(() => read(session, key)),
    set: (session, key, value) =>
      retryWhileBusy(() =>
        transaction(database, () => {
          const previous = read(session, key)
          database
            .prepare(
              "insert or replace into agent_environment (agent_id, session_id, key, value, updated_at) values (?, ?, ?, ?, ?)",
            )
            .run(session.agentId, session.sessionId, key, value, Date.now())
          return previous
        }),
      ),
  }
}
