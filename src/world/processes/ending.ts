import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

/** A running process, as /proc tells of it. */
interface Seen {
  pid: number
  state: string
  parent: number
  group: number
  /** Ticks since the machine started. */
  began: number
}

/** A command's processes. */
export interface Group {
  /** The first process, whose number is the group's too. */
  readonly pid: number
  /** When the first process began: another one may get its number later. */
  readonly began: number
  /** What stands in the environment of all of them, also of those that left the group: `NAME=value`. */
  readonly mark: string
  /** The first process is bubblewrap: it is not to be asked, only those inside. */
  readonly isSandbox: boolean
}

const pauseMs = 15

/** The group of a process that was started just now. */
export function groupOf(pid: number, mark: string, isSandbox: boolean): Group {
  return { pid, began: lookAt(pid)?.began ?? 0, mark, isSandbox }
}

/**
 * Ends everything a command has started: TERM, then KILL for those that are still there after the grace. Returns how many
 * there were. Without a sandbox, what has left the group, its parents and the environment it was started with is not found.
 */
export async function endGroup(group: Group, graceMs: number): Promise<number> {
  const ended = new Set<number>()
  let left = membersOf(group)
  // Bubblewrap and the first process inside take everybody with them, so they are not told.
  const told = left.filter(({ isKeeper }) => !isKeeper)
  const deadline = performance.now() + (told.length > 0 ? graceMs : 0)
  signal(group, told, "SIGTERM")
  // Who was stopped hears of it only when it goes on.
  signal(group, told, "SIGCONT")
  for (let tries = 0; left.length > 0 && tries < 100; left = membersOf(group)) {
    for (const { pid, isKeeper } of left) if (!isKeeper) ended.add(pid)
    // Again and again, because what forks faster than it is looked for has children nobody has seen.
    if (performance.now() >= deadline) {
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
  for (let tries = 0, left = membersOf(group); left.length > 0 && tries < 20; tries++, left = membersOf(group)) {
    signal(group, left, "SIGKILL")
  }
}

/** Ends what carries a mark for which `isLost` says so. */
export function killMarked(name: string, isLost: (mark: string) => boolean): number {
  if (process.platform !== "linux") return 0
  const lost = lookAround().filter(({ pid }) => {
    const mark = markOf(pid, name)
    return mark !== undefined && isLost(mark)
  })
  for (const { pid } of lost) send(pid, "SIGKILL")
  return lost.length
}

/** When a process began, in ticks since the machine started; undefined when it does not run. */
export function beganAt(pid: number): number | undefined {
  const seen = lookAt(pid)
  return seen === undefined || hasEnded(seen) ? undefined : seen.began
}

function signal(group: Group, members: readonly { pid: number }[], name: NodeJS.Signals): void {
  if (!group.isSandbox && isStillIt(group)) send(-group.pid, name)
  for (const { pid } of members) send(pid, name)
}

/** Whether the number means the first process still, or nobody: then its group may go on without it. */
function isStillIt({ pid, began }: Group): boolean {
  const now = lookAt(pid)
  return now === undefined || now.began === began
}

interface Member {
  readonly pid: number
  readonly isKeeper: boolean
}

function membersOf(group: Group): Member[] {
  const { pid, began, mark, isSandbox } = group
  if (process.platform !== "linux") return send(-pid, 0) ? [{ pid, isKeeper: false }] : []
  const all = lookAround().filter((one) => one.began >= began)
  const isIt = isStillIt(group)
  const below = isIt ? descendantsOf(pid, all) : new Set<number>()
  return all
    .filter((one) => (isIt && one.group === pid) || below.has(one.pid) || carries(one.pid, mark))
    .map((one) => ({ pid: one.pid, isKeeper: isSandbox && (one.pid === pid || !isInside(one, pid, below)) }))
}

/** Whether it is further inside than the first process there, which bubblewrap itself is. */
const isInside = (one: Seen, keeper: number, below: ReadonlySet<number>) => below.has(one.pid) && one.parent !== keeper

function descendantsOf(root: number, all: readonly Seen[]): Set<number> {
  const children = groupByParent(all)
  const found = new Set<number>()
  const waiting = [root]
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    for (const child of children.get(pid) ?? []) {
      if (found.has(child.pid)) continue
      found.add(child.pid)
      waiting.push(child.pid)
    }
  }
  return found
}

function groupByParent(all: readonly Seen[]): Map<number, Seen[]> {
  const groups = new Map<number, Seen[]>()
  for (const one of all) {
    const siblings = groups.get(one.parent)
    if (siblings === undefined) groups.set(one.parent, [one])
    else siblings.push(one)
  }
  return groups
}

/** Everyone who runs; who has ended and was not yet fetched does not. */
function lookAround(): Seen[] {
  return readdirSync("/proc").flatMap((name) => {
    const pid = Number(name)
    const seen = Number.isInteger(pid) ? lookAt(pid) : undefined
    return seen === undefined || hasEnded(seen) ? [] : [seen]
  })
}

function lookAt(pid: number): Seen | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    const [state = "", parent, group, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return { pid, state, parent: Number(parent), group: Number(group), began: Number(rest[16]) }
  } catch {
    return undefined
  }
}

const hasEnded = ({ state }: Seen) => state === "Z" || state === "X"

function carries(pid: number, mark: string): boolean {
  const [name = "", value] = mark.split("=")
  return markOf(pid, name) === value
}

/** What a process was started with under that name; undefined where it cannot be seen. */
function markOf(pid: number, name: string): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0")
    return environment.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1)
  } catch {
    return undefined
  }
}

/** Whether there was anybody to be told. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
