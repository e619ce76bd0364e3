import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** The folder of one browser: its profile, its downloads, and which process launched it. */
export interface BrowserFolder {
  readonly profile: string
  readonly downloads: string
  /** Ends what is left of the browser and removes the folder. */
  remove(): void
}

/** Makes the folder of a new browser. */
export function makeBrowserFolder(dataFolder: string, browserId: string): BrowserFolder {
  const folder = join(dataFolder, browserId)
  const places = { profile: join(folder, "profile"), downloads: join(folder, "downloads") }
  for (const place of Object.values(places)) mkdirSync(place, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, "launched-by.json"), JSON.stringify({ pid: process.pid, born: bornAt(process.pid) }))
  return {
    ...places,
    remove() {
      endProcesses(places.profile)
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
    },
  }
}

/**
 * Ends the browsers that a killed process left behind, and removes their folders. Returns how many browsers still ran.
 */
export function endLeftBrowsers(dataFolder: string): number {
  let ended = 0
  for (const name of readdirSync(dataFolder)) {
    const folder = join(dataFolder, name)
    if (isInUse(folder)) continue
    if (endProcesses(join(folder, "profile")) > 0) ended++
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
  return ended
}

/**
 * Reports whether the process that launched the browser still runs. Another process with its old number was born later.
 */
function isInUse(folder: string): boolean {
  try {
    const { pid, born } = JSON.parse(readFileSync(join(folder, "launched-by.json"), "utf8")) as Launcher
    process.kill(pid, 0)
    return bornAt(pid) === born
  } catch (error) {
    // It exists, but belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

interface Launcher {
  readonly pid: number
  readonly born: string
}

/** Returns the start time of a process, as the system gives it; empty where that cannot be found out. */
function bornAt(pid: number): string {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
    return fields[19] ?? ""
  } catch {
    return ""
  }
}

/** Kills the processes that were started with this profile: no other process has its path in its command line. */
function endProcesses(profile: string): number {
  const mark = `--user-data-dir=${profile}`
  const found = commandLines().filter(({ words }) => words.includes(mark))
  for (const { pid } of found) {
    try {
      process.kill(pid, "SIGKILL")
    } catch {
      // It has ended by itself.
    }
  }
  return found.length
}

function commandLines(): { pid: number; words: readonly string[] }[] {
  if (process.platform === "linux") {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => ({ pid: Number(name), words: commandLine(name) }))
  }
  if (process.platform === "win32") return []
  const lines = execFileSync("ps", ["-axo", "pid=,command="], { encoding: "utf8" }).split("\n")
  return lines.map((line) => {
    const [pid = "", ...words] = line.trim().split(" ")
    return { pid: Number(pid), words }
  })
}

function commandLine(pid: string): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/cmdline`, "utf8")
    // Chrome's helpers have their whole command line in one word.
    return text.split(/[\0 ]/)
  } catch {
    return []
  }
}
