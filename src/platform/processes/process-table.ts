import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs"

/** A process, as /proc shows it. */
export interface ProcessInfo {
  readonly pid: number
  readonly state: string
  readonly parent: number
  readonly group: number
  /** The time of its start, in ticks since the machine booted. */
  readonly startTicks: number
}

/** A command's processes. */
export interface CommandGroup {
  /** The first process; also the id of the process group. */
  readonly pid: number
  /** The time the first process started. Another process may get the same id later. */
  readonly startTicks: number
  /** `NAME=value` in the environment of all its processes, including those that left the group. */
  readonly mark: string
  /** The first process is bubblewrap. Only the processes inside get TERM. */
  readonly isSandbox: boolean
}

export interface GroupMember {
  readonly pid: number
  /** Bubblewrap itself, outside or inside. When it ends, all processes inside end. */
  readonly isBubblewrap: boolean
}

/** The group of a process that has just started. */
export function groupOf(pid: number, mark: string, isSandbox: boolean): CommandGroup {
  return { pid, startTicks: readProcess(pid)?.startTicks ?? 0, mark, isSandbox }
}

/**
 * The group's members among these processes. Without `byMark`, those found only by their environment are left out.
 * Linux only.
 */
export function membersOf(
  group: CommandGroup,
  processes: readonly ProcessInfo[] = runningProcesses(),
  byMark = true,
): GroupMember[] {
  const { pid, startTicks, mark, isSandbox } = group
  const all = processes.filter((process) => process.startTicks >= startTicks)
  const isSame = isSameProcess(group)
  const below = isSame ? descendantsOf(pid, all) : new Set<number>()
  return all
    .filter((found) => (isSame && found.group === pid) || below.has(found.pid) || (byMark && hasMark(found.pid, mark)))
    .map((found) => ({
      pid: found.pid,
      isBubblewrap: isSandbox && (found.pid === pid || !isInside(found, pid, below)),
    }))
}

/** Reports whether the id still means the first process, or no process: then its group may go on without it. */
export function isSameProcess({ pid, startTicks }: CommandGroup): boolean {
  const now = readProcess(pid)
  return now === undefined || now.startTicks === startTicks
}

/** All processes except zombies. */
export function runningProcesses(): ProcessInfo[] {
  return allProcesses().filter((found) => !hasEnded(found))
}

/** All processes, including zombies. */
export function allProcesses(): ProcessInfo[] {
  return readdirSync("/proc").flatMap((name) => {
    const pid = Number(name)
    return (Number.isInteger(pid) ? readProcess(pid) : undefined) ?? []
  })
}

/** Returns the time a process started, in ticks since the machine booted; undefined if it does not run. */
export function processStartTicks(pid: number): number | undefined {
  const found = readProcess(pid)
  return found === undefined || hasEnded(found) ? undefined : found.startTicks
}

/** A variable a process was started with; undefined if it cannot be read. */
export function processVariable(pid: number, name: string): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0")
    return environment.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1)
  } catch {
    return undefined
  }
}

/**
 * Reports whether one of these processes that may belong to the group is being started at this moment: while a process
 * executes another program, its environment is empty.
 */
export function isAnyStarting({ startTicks }: CommandGroup, processes: readonly ProcessInfo[]): boolean {
  return processes.some((found) => found.startTicks >= startTicks && hasNoEnvironment(found.pid))
}

function hasNoEnvironment(pid: number): boolean {
  try {
    return readFirstPage(`/proc/${pid}/environ`) === ""
  } catch {
    return false
  }
}

function hasMark(pid: number, mark: string): boolean {
  const [name = "", value] = mark.split("=")
  return processVariable(pid, name) === value
}

/** Reports whether a process is inside the sandbox. The child of the outer bubblewrap is bubblewrap itself. */
const isInside = (found: ProcessInfo, bubblewrap: number, below: ReadonlySet<number>) =>
  below.has(found.pid) && found.parent !== bubblewrap

function descendantsOf(root: number, all: readonly ProcessInfo[]): Set<number> {
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

function groupByParent(all: readonly ProcessInfo[]): Map<number, ProcessInfo[]> {
  const groups = new Map<number, ProcessInfo[]>()
  for (const found of all) {
    const siblings = groups.get(found.parent)
    if (siblings === undefined) groups.set(found.parent, [found])
    else siblings.push(found)
  }
  return groups
}

function readProcess(pid: number): ProcessInfo | undefined {
  try {
    const stat = readFirstPage(`/proc/${pid}/stat`)
    const [state = "", parent, group, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 20)
    return { pid, state, parent: Number(parent), group: Number(group), startTicks: Number(rest[16]) }
  } catch {
    return undefined
  }
}

const page = Buffer.alloc(4096)

/** Reads a /proc file in one call into a shared buffer, because there are many of them. */
export function readFirstPage(path: string): string {
  const descriptor = openSync(path, "r")
  try {
    return page.toString("latin1", 0, readSync(descriptor, page, 0, page.length, 0))
  } finally {
    closeSync(descriptor)
  }
}

const hasEnded = ({ state }: ProcessInfo) => state === "Z" || state === "X"
