import type { CommandLimits, ExceededLimit } from "../../model/processes.ts"
import { everyNumber, firstPageOf, membersOf, type Group, type Member } from "./members.ts"

/** Between two looks at what commands use, and where one of them has a good part of what it may have. */
const usualMs = 500
const soonMs = 100
const goodPart = 0.25

/** A process counts once for each so many threads that it has begun. */
const threadsOfOne = 16

/** Looks after a group until it is told to stop; says so at every look at which the group uses too much. */
export type Watch = (group: Group, tell: (exceeded: ExceededLimit) => void) => () => void

/**
 * Watches what commands use together with all they have started: memory and processes. All are looked at in one go, and
 * nothing is done while none runs. What has no /proc is not watched.
 */
export function watchLimits(limits: CommandLimits): Watch {
  const watched = new Map<Group, (exceeded: ExceededLimit) => void>()
  let timer: NodeJS.Timeout | undefined
  let due = Infinity
  /** Never later than planned before: else those who come in after another would keep it from ever being done. */
  const plan = (milliseconds: number) => {
    if (watched.size === 0 || performance.now() + milliseconds >= due) return
    clearTimeout(timer)
    due = performance.now() + milliseconds
    timer = setTimeout(look, milliseconds).unref()
  }
  const look = () => {
    due = Infinity
    plan(lookAtAll() >= goodPart ? soonMs : usualMs)
  }
  /** The largest part that one of them has of what it may have. */
  const lookAtAll = (): number => {
    let largest = 0
    try {
      const everyone = everyNumber()
      for (const [group, tell] of watched) {
        // Nobody leaves the sandbox, so nobody has to be known by what it was started with.
        const used = usageOf(membersOf(group, everyone, !group.isSandbox), limits.memoryMb)
        largest = Math.max(largest, used.memoryMb / limits.memoryMb, used.processes / limits.processes)
        const exceeded = exceededBy(used, limits)
        if (exceeded !== undefined) tell(exceeded)
      }
    } catch {
      // Too many files are open, or the like: the next look is soon.
      return 1
    }
    return largest
  }
  return (group, tell) => {
    if (process.platform !== "linux") return () => {}
    watched.set(group, tell)
    plan(soonMs)
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

/** What several processes share counts for each of them at first; it is looked at closely only where that is too much. */
function usageOf(members: readonly Member[], mostMb: number): Usage {
  let processes = 0
  let kilobytes = 0
  for (const { pid } of members) {
    const status = factsOf(`/proc/${pid}/status`)
    processes += Math.max(1, Math.ceil(status("Threads") / threadsOfOne))
    kilobytes += status("VmRSS") + status("VmSwap")
  }
  if (kilobytes > mostMb * 1024) kilobytes = members.reduce((sum, { pid }) => sum + shareOf(pid), 0)
  return { memoryMb: kilobytes / 1024, processes }
}

/** In kilobytes; all of it where it cannot be seen who else has a part. */
function shareOf(pid: number): number {
  const rollup = factsOf(`/proc/${pid}/smaps_rollup`)
  const share = rollup("Pss") + rollup("SwapPss")
  if (share > 0) return share
  const status = factsOf(`/proc/${pid}/status`)
  return status("VmRSS") + status("VmSwap")
}

/** Reads `Name:  number` of a file of /proc; 0 for what it does not say. */
function factsOf(path: string): (name: string) => number {
  let text = ""
  try {
    text = firstPageOf(path)
  } catch {
    // It has ended meanwhile.
  }
  return (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0)
}

function exceededBy(used: Usage, { memoryMb, processes }: CommandLimits): ExceededLimit | undefined {
  if (used.memoryMb > memoryMb) {
    const sentence = `The command used more than ${memoryMb} MB of memory, with all it had started, and was ended. Let it use less, or ask a person to raise tools.shell.limits.memoryMb.`
    return { limit: "memoryMb", most: memoryMb, sentence }
  }
  if (used.processes > processes) {
    const sentence = `The command had more than ${processes} processes at once and was ended (${threadsOfOne} threads of one count as one). Let it start fewer, or ask a person to raise tools.shell.limits.processes.`
    return { limit: "processes", most: processes, sentence }
  }
  return undefined
}
