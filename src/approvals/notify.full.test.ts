import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder, until } from "../testing/test-app.ts"
import { notifier } from "./notify.ts"
import { sampleItem, makeLogger } from "./testing/notify.ts"

test("a command that takes too long is killed with everything it started", async () => {
  const folder = temporaryFolder()
  const pids = join(folder, "pids")
  const command = `sleep 600 & echo $! $$ > '${pids}.part'; mv '${pids}.part' '${pids}'; wait`
  // On a busy machine it may not have begun when its time is over.
  for (let commandMs = 500; !existsSync(pids); commandMs *= 4) {
    const { warnings, logger } = makeLogger()
    const notify = notifier([{ command }], logger, { commandMs })
    notify(sampleItem)
    await notify.idle()
    expect(warnings).toEqual([
      `The command 'sleep' could not be notified that call call-1 waits: it did not end within ${commandMs / 1000} s and was killed.`,
    ])
  }
  const started = readFileSync(pids, "utf8").trim().split(" ").map(Number)
  expect(started).toHaveLength(2)
  await until(() => !started.some(lives), "both processes are gone")
})

/** A process that has ended and only its parent has not looked yet does not live. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== "linux" || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1"))
  } catch {
    return false
  }
}
