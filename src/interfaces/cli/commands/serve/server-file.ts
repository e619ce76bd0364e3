import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** The address of a server of this data folder. Each process has its own file, so that several can serve one folder. */
export interface RunningServer {
  /** The address that people open. */
  url: string
  /** The address on which it listens on this machine. */
  listens: string
  pid: number
  startedAt: number
  /** The key that programs of this user show to it. */
  localKey?: string
  /** The project whose configuration it has; missing where options or variables changed that. */
  project?: string
}

const fileName = /^server\.\d+\.json$/
const fileOf = (dataDir: string, pid: number) => join(dataDir, `server.${pid}.json`)

export function writeServerFile(dataDir: string, server: RunningServer): void {
  writeFileSync(fileOf(dataDir, server.pid), JSON.stringify(server), { mode: 0o600 })
}

export function removeServerFile(dataDir: string, pid: number): void {
  rmSync(fileOf(dataDir, pid), { force: true })
}

/** The servers of this data folder whose process runs, the newest first. */
export function readServerFiles(dataDir: string): RunningServer[] {
  let names: string[] = []
  try {
    names = readdirSync(dataDir).filter((name) => fileName.test(name))
  } catch {
    // There is no data folder yet.
  }
  return names.flatMap((name) => readRunning(join(dataDir, name))).sort((one, other) => other.startedAt - one.startedAt)
}

function readRunning(file: string): RunningServer[] {
  try {
    const server = JSON.parse(readFileSync(file, "utf8")) as RunningServer
    // In a container the process of an earlier one often had the same number as this one.
    if (server.pid === process.pid) return []
    process.kill(server.pid, 0)
    return [server]
  } catch {
    return []
  }
}

/** The servers that also answer: after a crash another process may have the number of the one that served. */
export async function findServers(dataDir: string): Promise<RunningServer[]> {
  const servers = readServerFiles(dataDir)
  const answers = await Promise.all(servers.map(({ listens }) => isAnswering(listens)))
  return servers.filter((_, index) => answers[index])
}

async function isAnswering(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(3000) })
    await response.body?.cancel()
    return true
  } catch {
    return false
  }
}
