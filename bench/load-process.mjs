/** What the benchmarks of servers share: a load in a process of its own on the other core, and the CPU time of a server. */
import { execFileSync, fork } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** Starts a file of this folder that answers messages with `{ value }` or `{ error }`. Adds it to `processes`. */
export function startLoad(file, processes) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv: [] })
  processes.push(child)
  try {
    execFileSync("taskset", ["-acp", "1", String(child.pid)], { stdio: "ignore" })
  } catch {
    // Without taskset the system chooses the core.
  }
  return {
    child,
    async ask(message) {
      const answered = new Promise((resolve) => child.once("message", resolve))
      child.send(message)
      const { value, error } = await answered
      if (error !== undefined) throw new Error(error)
      return value
    },
  }
}

/** User and system time of a process with all its threads, without its children. */
export function cpuMs(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10
}
