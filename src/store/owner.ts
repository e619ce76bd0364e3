import { readFileSync } from "node:fs"
import { hostname } from "node:os"
import { newId } from "../model/identity.ts"

/** A name for this process that no later process can have: host, pid, when it began, and a fresh id. */
export function ownerName(): string {
  return [hostname(), process.pid, beganAt(process.pid) ?? "", newId()].join("|")
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
  const now = beganAt(number)
  return began === "" || now === undefined || now === began
}

/** Ticks since boot when the process began, where the system tells; a reused pid has another. */
function beganAt(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
  } catch {
    return undefined
  }
}
