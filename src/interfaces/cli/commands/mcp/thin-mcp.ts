// The entry of `qm mcp`: where a server of the project runs, it only passes messages on.
import { request } from "node:http"
import { homedir } from "node:os"
import { join } from "node:path"
import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { dataFolderName, findProject } from "../../../../config/find-project.ts"
import { localKeyHeader, localMcpPath, localMcpProtocol } from "../../../../lib/local-key.ts"
import { serversOf, type ServerAddress } from "../hook/ask-server.ts"
import { ThinClient } from "./thin-client.ts"

/** A client waits this long for a server that is started anew. */
const awayMs = 20_000

/**
 * Serves one MCP client by the server of the project, until the client closes stdin. Returns false, with nothing read,
 * where no server serves the project as this command would: then the whole command line does.
 */
export async function runThinMcp(words: readonly string[]): Promise<boolean> {
  const flags = readFlags(words)
  const project = findProject(process.cwd(), homedir())
  if (flags === undefined || project === undefined || process.stdin.isTTY) return false
  if (Object.keys(process.env).some((name) => name.startsWith("QM_") || name === "QUARTERMASTER_DATA")) return false
  const first = await connect(project, flags)
  if (first === undefined) return false
  const client = new ThinClient(process.stdin, process.stdout)
  for (let wire: Socket | undefined = first; wire !== undefined;) {
    await client.serveBy(wire)
    if (client.hasLeft) return true
    wire = await connectAgain(project, flags)
    if (client.hasLeft) return true
  }
  process.stderr.write("The Quartermaster server of this project has ended. Start one with: qm serve --daemon\n")
  process.exitCode = 1
  return true
}

interface ThinFlags {
  agent?: string
  builtin?: string
}

/** Undefined for words that only the whole command line understands. */
function readFlags(words: readonly string[]): ThinFlags | undefined {
  const given = words[0] === "serve" ? words.slice(1) : words
  const found: ThinFlags = {}
  for (let at = 0; at < given.length; at += 2) {
    const value = given[at + 1]
    if (value === undefined) return undefined
    if (given[at] === "--agent") found.agent = value
    else if (given[at] === "--builtin") found.builtin = value
    else return undefined
  }
  return found
}

async function connectAgain(project: string, flags: ThinFlags): Promise<Socket | undefined> {
  for (const until = Date.now() + awayMs; Date.now() < until; await sleep(100)) {
    const wire = await connect(project, flags)
    if (wire !== undefined) return wire
  }
  return undefined
}

async function connect(project: string, flags: ThinFlags): Promise<Socket | undefined> {
  for (const server of serversOf(join(project, dataFolderName))) {
    if (server.project !== project) continue
    const wire = await upgrade(server, flags)
    if (wire !== undefined) return wire
  }
  return undefined
}

/** Undefined when the server refuses, for example because the agent has ended: the command line says why. */
function upgrade({ host, port, key }: ServerAddress, flags: ThinFlags): Promise<Socket | undefined> {
  const path = `${localMcpPath}?${new URLSearchParams({ ...flags }).toString()}`
  const headers = { host: "localhost", connection: "upgrade", upgrade: localMcpProtocol, [localKeyHeader]: key }
  return new Promise((resolve) => {
    const asked = request({ host, port, path, headers, agent: false }, (response) => {
      response.resume()
      resolve(undefined)
    })
    asked.on("upgrade", (_, wire: Socket) => resolve(wire))
    asked.on("error", () => resolve(undefined))
    asked.end()
  })
}
