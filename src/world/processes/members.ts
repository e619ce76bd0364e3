import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs"

/** A running process, as /proc tells of it. */
export interface Seen {
  readonly pid: number
  readonly state: string
  readonly parent: number
  readonly group: number
  /** Ticks since the machine started. */
  readonly began: number
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

export interface Member {
  readonly pid: number
  /** Bubblewrap itself, outside or inside: it takes everybody with it. */
  readonly isKeeper: boolean
}

/** The group of a process that was started just now. */
export function groupOf(pid: number, mark: string, isSandbox: boolean): Group {
  return { pid, began: lookAt(pid)?.began ?? 0, mark, isSandbox }
}

/** Those of a group among these. Without `byMark` those are left out that only their environment tells of. Linux only. */
export function membersOf(group: Group, everyone: readonly Seen[] = lookAround(), byMark = true): Member[] {
  const { pid, began, mark, isSandbox } = group
  const all = everyone.filter((one) => one.began >= began)
  const isIt = isStillIt(group)
  const below = isIt ? descendantsOf(pid, all) : new Set<number>()
  return all
    .filter((one) => (isIt && one.group === pid) || below.has(one.pid) || (byMark && carries(one.pid, mark)))
    .map((one) => ({ pid: one.pid, isKeeper: isSandbox && (one.pid === pid || !isInside(one, pid, below)) }))
}

/** Whether the number means the first process still, or nobody: then its group may go on without it. */
export function isStillIt({ pid, began }: Group): boolean {
  const now = lookAt(pid)
  return now === undefined || now.began === began
}

/** Everyone who runs; who has ended and was not yet fetched does not, though it still has a number. */
export function lookAround(): Seen[] {
  return everyNumber().filter((seen) => !hasEnded(seen))
}

/** Everyone who has a number. */
export function everyNumber(): Seen[] {
  return readdirSync("/proc").flatMap((name) => {
    const pid = Number(name)
    return (Number.isInteger(pid) ? lookAt(pid) : undefined) ?? []
  })
}

/** When a process began, in ticks since the machine started; undefined when it does not run. */
export function beganAt(pid: number): number | undefined {
  const seen = lookAt(pid)
  return seen === undefined || hasEnded(seen) ? undefined : seen.began
}

/** What a process was started with under that name; undefined where it cannot be seen. */
export function markOf(pid: number, name: string): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0")
    return environment.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1)
  } catch {
    return undefined
  }
}

function carries(pid: number, mark: string): boolean {
  const [name = "", value] = mark.split("=")
  return markOf(pid, name) === value
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

function lookAt(pid: number): Seen | undefined {
  try {
    const stat = firstPageOf(`/proc/${pid}/stat`)
    const [state = "", parent, group, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 20)
    return { pid, state, parent: Number(parent), group: Number(group), began: Number(rest[16]) }
  } catch {
    return undefined
  }
}

const page = Buffer.alloc(4096)

/** What the kernel writes anew each time is read at once, into the same place: there are many of them. */
export function firstPageOf(path: string): string {
  const descriptor = openSync(path, "r")
  try {
    return page.toString("latin1", 0, readSync(descriptor, page, 0, page.length, 0))
  } finally {
    closeSync(descriptor)
  }
}

const hasEnded = ({ state }: Seen) => state === "Z" || state === "X"
