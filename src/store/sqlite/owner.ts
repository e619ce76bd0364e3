import { readFileSync } from "node:fs"
import { hostname } from "node:os"
import { newId } from "../../lib/new-id.ts"

/** A unique name for this process: host, pid, start time and a new id. */
export function newOwnerName(): string {
  return [hostname(), process.pid, processStatus(process.pid)?.began ?? "", newId()].join("|")
}

/**
 * Reports whether the process with this name is alive. A process on another host counts as alive, because it cannot be
 * checked.
 */
export function isOwnerAlive(owner: string): boolean {
  const [host, pid, began] = owner.split("|")
  if (host !== hostname()) return owner !== ""
  const number = Number(pid)
  try {
    process.kill(number, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false
  }
  const status = processStatus(number)
  if (status === undefined) return true
  return status.state !== "Z" && (began === "" || status.began === began)
}

/**
 * The state of a process, *Z* for one that has ended but was not waited for, and its start time in ticks since boot,
 * which differs when a pid is reused. Undefined on systems without /proc.
 */
function processStatus(pid: number): { state: string | undefined; began: string | undefined } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return { state: fields[0], began: fields[19] }
  } catch {
    return undefined
  }
}
