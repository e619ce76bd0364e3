import { setTimeout as sleep } from "node:timers/promises"
import {
  isAnyStarting,
  isSameProcess,
  runningProcesses,
  processVariable,
  membersOf,
  type CommandGroup,
  type GroupMember,
} from "./process-table.ts"

const pauseMs = 15

/**
 * Ends everything a command has started: sends TERM, then KILL to what still runs after the grace period, or sooner if
 * `isUrgent`. Returns how many processes there were. Without a sandbox, it cannot find a process that left the group,
 * lost its parents and cleared its environment.
 */
export async function endCommandGroup(group: CommandGroup, graceMs: number, isUrgent = () => false): Promise<number> {
  const ended = new Set<number>()
  let left = await leftForSure(group)
  // The end of bubblewrap kills all processes inside, so it does not get TERM.
  const terminated = left.filter(({ isBubblewrap }) => !isBubblewrap)
  const deadline = performance.now() + (terminated.length > 0 ? graceMs : 0)
  signal(group, terminated, "SIGTERM")
  // A stopped process gets TERM only when it continues.
  signal(group, terminated, "SIGCONT")
  for (let tries = 0; left.length > 0 && tries < 100; left = leftOf(group)) {
    for (const { pid, isBubblewrap } of left) if (!isBubblewrap) ended.add(pid)
    // Repeated, because a process that forks fast may have children we have not seen yet.
    if (performance.now() >= deadline || isUrgent()) {
      signal(group, left, "SIGKILL")
      tries++
    }
    await sleep(pauseMs)
  }
  return ended.size
}

/** Kills everything without waiting, for a process that is about to exit. */
export function killCommandGroup(group: CommandGroup): void {
  // Processes forked meanwhile are found in the next round.
  for (let tries = 0, left = leftOf(group); left.length > 0 && tries < 20; tries++, left = leftOf(group)) {
    signal(group, left, "SIGKILL")
  }
}

/** Kills the processes whose mark is an orphan's. */
export function killMarkedProcesses(name: string, isOrphan: (mark: string) => boolean): number {
  if (process.platform !== "linux") return 0
  const ended = new Set<number>()
  const findOrphans = () =>
    runningProcesses().filter(({ pid }) => {
      const mark = ended.has(pid) ? undefined : processVariable(pid, name)
      return mark !== undefined && isOrphan(mark)
    })
  // Repeated, because a process may have forked before it was killed.
  for (let tries = 0, left = findOrphans(); left.length > 0 && tries < 100; tries++, left = findOrphans()) {
    for (const { pid } of left) if (send(pid, "SIGKILL")) ended.add(pid)
  }
  return ended.size
}

/** Looks again while a process is being started that may belong to the group. */
async function leftForSure(group: CommandGroup): Promise<GroupMember[]> {
  if (process.platform !== "linux") return leftOf(group)
  for (let tries = 0; ; tries++) {
    const processes = runningProcesses()
    const left = membersOf(group, processes)
    if (left.length > 0 || tries === 3 || !isAnyStarting(group, processes)) return left
    await sleep(pauseMs)
  }
}

/** Without /proc, the group counts as one process. */
function leftOf(group: CommandGroup): GroupMember[] {
  if (process.platform === "linux") return membersOf(group)
  return send(-group.pid, 0) ? [{ pid: group.pid, isBubblewrap: false }] : []
}

function signal(group: CommandGroup, members: readonly GroupMember[], name: NodeJS.Signals): void {
  if (!group.isSandbox && isSameProcess(group)) send(-group.pid, name)
  for (const { pid } of members) send(pid, name)
}

/** Reports whether the process exists and could be signalled. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
