import { isMainThread, parentPort, Worker } from "node:worker_threads"
import { loadSqlite } from "../../lib/load-sqlite.ts"
import { runSqliteJob, type SqliteJob } from "./sqlite-job.ts"

/** Memory that the process may use. SQLite's own limit has no effect in the builds we use. */
const maxBytes = 512 * 1024 * 1024

// SQLite cannot be interrupted from JavaScript, so it has a process of its own that can be killed. The work is done in a
// thread, so that the process notices, also during a statement, when the one that started it is gone.
if (isMainThread) {
  const thread = new Worker(new URL(import.meta.url), { execArgv: [] })
  let watch: NodeJS.Timeout | undefined
  thread.on("message", (answer) => {
    clearInterval(watch)
    process.send?.(answer)
  })
  thread.on("error", end)
  process.on("message", (job) => {
    watch = setInterval(() => process.memoryUsage.rss() > maxBytes && end(), 20)
    thread.postMessage(job)
  })
  process.on("disconnect", end)
} else {
  const sqlite = await loadSqlite()
  parentPort?.on("message", (job: SqliteJob) => parentPort?.postMessage(runSqliteJob(job, sqlite)))
}

function end(): void {
  process.kill(process.pid, "SIGKILL")
}
