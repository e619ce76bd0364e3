import { readlinkSync } from "node:fs"
import { newId } from "../../lib/new-id.ts"
import { killMarkedProcesses } from "./end-processes.ts"
import { processStartTicks } from "./process-table.ts"

/** A variable in the environment of every process of a command, to find those that left its group. */
const name = "QUARTERMASTER_COMMAND"

/** A new mark that names this process as the owner: `NAME=value`. */
export function newProcessMark(): string {
  return `${name}=${[namespace(), process.pid, processStartTicks(process.pid) ?? 0, newId()].join(":")}`
}

/**
 * Kills commands whose Quartermaster process was killed. Skips those of other containers, where process ids mean
 * something else.
 */
export function endOrphans(): number {
  return killMarkedProcesses(name, (mark) => {
    const [owner, pid, startTicks] = mark.split(":")
    return owner === namespace() && processStartTicks(Number(pid)) !== Number(startTicks)
  })
}

/** The process namespace: within it, process ids mean the same. */
function namespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replace(/\D/g, "")
  } catch {
    return ""
  }
}
