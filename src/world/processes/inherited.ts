import { readdirSync, readFileSync } from "node:fs"

const closedOnExec = 0o2000000

/**
 * Descriptors that whoever started us left open: every program we start would have them too, and with one of a folder
 * outside a sandbox also what is in it. Node's own are closed when another program begins. Only Linux tells.
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
    // The one the list was read by.
    return false
  }
}
