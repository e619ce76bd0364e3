import { readlinkSync } from "node:fs"
import { newId } from "../../model/identity.ts"
import { killMarked } from "./ending.ts"
import { beganAt } from "./members.ts"

/** A variable that every process of a command carries, by which those that left its group are found. */
const name = "QUARTERMASTER_COMMAND"

/** A new mark, which says whose it is: `NAME=value`. */
export function newMark(): string {
  return `${name}=${[namespace(), process.pid, beganAt(process.pid) ?? 0, newId()].join(":")}`
}

/**
 * Ends what houses that were killed have left running. Those of another machine's or container's numbers are not ours to
 * judge.
 */
export function endOrphans(): number {
  return killMarked(name, (mark) => {
    const [where, pid, began] = mark.split(":")
    return where === namespace() && beganAt(Number(pid)) !== Number(began)
  })
}

/** Where process numbers mean the same. */
function namespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replace(/\D/g, "")
  } catch {
    return ""
  }
}
