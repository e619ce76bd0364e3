import { setTimeout as sleep } from "node:timers/promises"
import { isStillIt, lookAround, markOf, membersOf, type Group, type Member } from "./members.ts"

const pauseMs = 15

/**
 * Ends everything a command has started: TERM, then KILL for those that are still there after the grace, or sooner where
 * it has become urgent. Returns how many there were. Without a sandbox, what has left the group, its parents and the
 * environment it was started with is not found.
 */
export async function endGroup(group: Group, graceMs: number, isUrgent = () => false): Promise<number> {
  const ended = new Set<number>()
  let left = leftOf(group)
  // Bubblewrap and the first process inside take everybody with them, so they are not told.
  const told = left.filter(({ isKeeper }) => !isKeeper)
  const deadline = performance.now() + (told.length > 0 ? graceMs : 0)
  signal(group, told, "SIGTERM")
  // Who was stopped hears of it only when it goes on.
  signal(group, told, "SIGCONT")
  for (let tries = 0; left.length > 0 && tries < 100; left = leftOf(group)) {
    for (const { pid, isKeeper } of left) if (!isKeeper) ended.add(pid)
    // Again and again, because what forks faster than it is looked for has children nobody has seen.
    if (performance.now() >= deadline || isUrgent()) {
      signal(group, left, "SIGKILL")
      tries++
    }
    await sleep(pauseMs)
  }
  return ended.size
}

/** Ends everything at once and without waiting, for a house that is about to end. */
export function killGroup(group: Group): void {
  // What was forked while it was looked for is found the next time.
  for (let tries = 0, left = leftOf(group); left.length > 0 && tries < 20; tries++, left = leftOf(group)) {
    signal(group, left, "SIGKILL")
  }
}

/** Ends what carries a mark for which `isLost` says so. */
export function killMarked(name: string, isLost: (mark: string) => boolean): number {
  if (process.platform !== "linux") return 0
  const ended = new Set<number>()
  const newLost = () =>
    lookAround().filter(({ pid }) => {
      const mark = ended.has(pid) ? undefined : markOf(pid, name)
      return mark !== undefined && isLost(mark)
    })
  // Who is killed starts nobody any more, but may have done so while it was looked for.
  for (let tries = 0, left = newLost(); left.length > 0 && tries < 100; tries++, left = newLost()) {
    for (const { pid } of left) if (send(pid, "SIGKILL")) ended.add(pid)
  }
  return ended.size
}

/** Where nobody can be looked at, the group is one. */
function leftOf(group: Group): Member[] {
  if (process.platform === "linux") return membersOf(group)
  return send(-group.pid, 0) ? [{ pid: group.pid, isKeeper: false }] : []
}

function signal(group: Group, members: readonly Member[], name: NodeJS.Signals): void {
  if (!group.isSandbox && isStillIt(group)) send(-group.pid, name)
  for (const { pid } of members) send(pid, name)
}

/** Whether there was anybody to be told. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
