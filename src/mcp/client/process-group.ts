import { spawn, type ChildProcess } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

const running = new Set<number>()
let watchesExit = false

/** How many servers run as processes of this one. */
export function childCount(): number {
  return running.size
}

/** Starts a process with a group of its own, so that what it starts can be ended with it. */
export function startGroup(given: {
  command: string
  args: readonly string[]
  env: Record<string, string>
  cwd: string
}): ChildProcess {
  const child = spawn(given.command, [...given.args], {
    env: given.env,
    cwd: given.cwd,
    stdio: ["pipe", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  })
  const { pid } = child
  if (pid === undefined) return child
  running.add(pid)
  child.once("exit", () => running.delete(pid))
  watchExit()
  return child
}

/** Ends a process and all it started: its input is closed, then TERM, two seconds later KILL. */
export async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child
  if (pid === undefined) return
  const exited = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once("exit", () => resolve())
  })
  child.stdin?.end()
  await within(exited, 200)
  if (signalGroup(pid, "SIGTERM")) {
    for (let waited = 0; waited < 2000 && isAlive(pid); waited += 20) await sleep(20)
    signalGroup(pid, "SIGKILL")
  }
  await exited
}

/**
 * Whether anybody of the group still runs. What has ended but was not yet fetched by its parent still has a number, so
 * where there is a /proc it is asked.
 */
function isAlive(group: number): boolean {
  if (!signalGroup(group, 0)) return false
  if (process.platform !== "linux") return true
  return readdirSync("/proc").some((name) => {
    try {
      const [state, , itsGroup] = readFileSync(`/proc/${Number(name)}/stat`, "utf8")
        .split(") ")
        .at(-1)!
        .split(" ")
      return Number(itsGroup) === group && state !== "Z" && state !== "X"
    } catch {
      return false
    }
  })
}

/** Whether there was anybody to be signalled. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(process.platform === "win32" ? pid : -pid, signal)
  } catch {
    return false
  }
}

/** Nothing we started outlives us, even when nobody closed it. */
function watchExit(): void {
  if (watchesExit) return
  watchesExit = true
  process.on("exit", () => {
    for (const pid of running) signalGroup(pid, "SIGKILL")
  })
}

async function within(promise: Promise<void>, milliseconds: number): Promise<void> {
  const over = new AbortController()
  await Promise.race([promise, sleep(milliseconds, undefined, { signal: over.signal }).catch(() => {})])
  over.abort()
}
