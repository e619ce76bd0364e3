import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Where a server of this data folder listens, for `qm open`. */
export interface RunningServer {
  url: string
  pid: number
}

const nameOf = (dataDir: string) => join(dataDir, "server.json")

export function writeServerFile(dataDir: string, server: RunningServer): void {
  writeFileSync(nameOf(dataDir), JSON.stringify(server), { mode: 0o600 })
}

/** Removes the file, unless another server has replaced it. */
export function removeServerFile(dataDir: string, pid: number): void {
  if (readServerFile(dataDir)?.pid === pid) rmSync(nameOf(dataDir), { force: true })
}

/** The server of this data folder, if its process runs. */
export function readServerFile(dataDir: string): RunningServer | undefined {
  try {
    const server = JSON.parse(readFileSync(nameOf(dataDir), "utf8")) as RunningServer
    process.kill(server.pid, 0)
    return server
  } catch {
    return undefined
  }
}
