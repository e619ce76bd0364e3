import { spawn, type ChildProcess } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

const running = new Set<number>()
let watchesExit = false

/** Counts the servers that run as child processes. */
export function serverProcessCount(): number {
  return running.size
}

/** Starts a process in its own process group, so that what it starts can be ended with it. */
export function startServerProcess(options: {
  command: string
  args: readonly string[]
  env: Record<string, string>
  cwd: string
}): ChildProcess {
  const child = spawn(options.command, [...options.args], {
    env: options.env,
    cwd: options.cwd,
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

/** Ends a process and all it started: closes its input, then sends TERM, two seconds later KILL. */
export async function endServerProcess(child: ChildProcess): Promise<void> {
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
 * Reports whether a process of the group still runs. Zombies can be signalled: on Linux /proc is read to ignore them.
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

/** Returns whether the group exists. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(process.platform === "win32" ? pid : -pid, signal)
  } catch {
    return false
  }
}

/** Kills all servers when this process exits without closing them. */
function watchExit(): void {
  if (watchesExit) return
  watchesExit = true
  process.on("exit", () => {
    for (const pid of running) signalGroup(pid, "SIGKILL")
  })
}

async function within(promise: Promise<void>, milliseconds: number): Promise<void> {
  const timer = new AbortController()
  await Promise.race([promise, sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => {})])
  timer.abort()
}
