import type { CommandLimits, ExceededLimit } from "./process-access.ts"
import { allProcesses, readFirstPage, membersOf, type CommandGroup, type GroupMember } from "./process-table.ts"

/** The time between two checks. It is shorter while a command uses more than `busyShare` of a limit. */
const usualMs = 500
const busyMs = 100
const busyShare = 0.25

/** This many threads of a process count as one process. */
const threadsPerProcess = 16

/** Watches a group until the returned function is called. Calls `onExceeded` at each check that finds it above a limit. */
export type WatchGroup = (group: CommandGroup, onExceeded: (exceeded: ExceededLimit) => void) => () => void

/**
 * Watches the memory and the number of processes of commands, including everything they started. One check covers all
 * commands, and nothing runs while there is none. Works only with /proc.
 */
export function watchLimits(limits: CommandLimits): WatchGroup {
  const watched = new Map<CommandGroup, (exceeded: ExceededLimit) => void>()
  let timer: NodeJS.Timeout | undefined
  let due = Infinity
  /** Never postpones a check that is already planned: otherwise new commands could postpone it for ever. */
  const plan = (milliseconds: number) => {
    if (watched.size === 0 || performance.now() + milliseconds >= due) return
    clearTimeout(timer)
    due = performance.now() + milliseconds
    timer = setTimeout(check, milliseconds).unref()
  }
  const check = () => {
    due = Infinity
    plan(checkAll() >= busyShare ? busyMs : usualMs)
  }
  /** Returns the largest share of a limit that a command uses. */
  const checkAll = (): number => {
    let largest = 0
    try {
      const everyone = allProcesses()
      for (const [group, onExceeded] of watched) {
        // No process leaves the sandbox, so there is no need to look for marks.
        const used = usageOf(membersOf(group, everyone, !group.isSandbox), limits.memoryMb)
        largest = Math.max(largest, used.memoryMb / limits.memoryMb, used.processes / limits.processes)
        const exceeded = exceededBy(used, limits)
        if (exceeded !== undefined) onExceeded(exceeded)
      }
    } catch {
      // For example too many open files: check again soon.
      return 1
    }
    return largest
  }
  return (group, onExceeded) => {
    if (process.platform !== "linux") return () => {}
    watched.set(group, onExceeded)
    plan(busyMs)
    return () => {
      watched.delete(group)
      if (watched.size > 0) return
      clearTimeout(timer)
      due = Infinity
    }
  }
}

interface Usage {
  readonly memoryMb: number
  readonly processes: number
}

/** Counts shared memory once per process first, and reads the exact share only when that exceeds the limit. */
function usageOf(members: readonly GroupMember[], maxMb: number): Usage {
  let processes = 0
  let kilobytes = 0
  for (const { pid } of members) {
    const status = factsOf(`/proc/${pid}/status`)
    processes += Math.max(1, Math.ceil(status("Threads") / threadsPerProcess))
    kilobytes += status("VmRSS") + status("VmSwap")
  }
  if (kilobytes > maxMb * 1024) kilobytes = members.reduce((sum, { pid }) => sum + shareOf(pid), 0)
  return { memoryMb: kilobytes / 1024, processes }
}

/** In kilobytes. All of it if the kernel does not show what is shared. */
function shareOf(pid: number): number {
  const rollup = factsOf(`/proc/${pid}/smaps_rollup`)
  const share = rollup("Pss") + rollup("SwapPss")
  if (share > 0) return share
  const status = factsOf(`/proc/${pid}/status`)
  return status("VmRSS") + status("VmSwap")
}

/** Reads `Name:  number` lines of a /proc file; 0 for missing names. */
function factsOf(path: string): (name: string) => number {
  let text = ""
  try {
    text = readFirstPage(path)
  } catch {
    // The process has ended.
  }
  return (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0)
}

function exceededBy(used: Usage, { memoryMb, processes }: CommandLimits): ExceededLimit | undefined {
  if (used.memoryMb > memoryMb) {
    const sentence = `The command and the processes it started used more than ${memoryMb} MB of memory, so it was ended. Use less memory, or ask a person to raise tools.shell.limits.memoryMb.`
    return { limit: "memoryMb", most: memoryMb, sentence }
  }
  if (used.processes > processes) {
    const sentence = `The command had more than ${processes} processes at once, so it was ended (${threadsPerProcess} threads count as one process). Start fewer, or ask a person to raise tools.shell.limits.processes.`
    return { limit: "processes", most: processes, sentence }
  }
  return undefined
}
