import { readFileSync } from "node:fs"
import { hostname } from "node:os"
import { newId } from "../model/identity.ts"

/** A name for this process that no later process can have: host, pid, when it began, and a fresh id. */
export function ownerName(): string {
  return [hostname(), process.pid, lookAt(process.pid)?.began ?? "", newId()].join("|")
}

/** Whether the process with that name still lives. On another host it counts as alive: nobody here can know. */
export function ownerLives(owner: string): boolean {
  const [host, pid, began] = owner.split("|")
  if (host !== hostname()) return owner !== ""
  const number = Number(pid)
  try {
    process.kill(number, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false
  }
  const seen = lookAt(number)
  if (seen === undefined) return true
  return seen.state !== "Z" && (began === "" || seen.began === began)
}

/**
 * Where the system tells: the state of a process, *Z* when it has ended and only its parent has not looked yet, and the
 * ticks since boot when it began, which are others for a reused pid.
 */
function lookAt(pid: number): { state: string | undefined; began: string | undefined } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return { state: fields[0], began: fields[19] }
  } catch {
    return undefined
  }
}
