import { readdirSync, readFileSync } from "node:fs"

const closedOnExec = 0o2000000

/**
 * Descriptors that the program which started us left open. Commands would inherit them, and through one of a folder
 * could leave the sandbox. Node's own descriptors are closed on exec. Linux only.
 */
export function inheritedDescriptors(): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number).filter(isInherited)
  } catch {
    return []
  }
}

function isInherited(descriptor: number): boolean {
  if (descriptor <= 2) return false
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1"))?.[1]
    return flags !== undefined && (parseInt(flags, 8) & closedOnExec) === 0
  } catch {
    // The descriptor used to read the list.
    return false
  }
}
