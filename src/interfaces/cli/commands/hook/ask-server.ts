import { lstatSync, readdirSync, readFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { localKeyHeader } from "../../../../lib/local-key.ts"

/** The output and the exit code of a hook's process. */
export interface ServerReply {
  stdout: string
  stderr: string
  code: number
}

/** The address of a running server. */
export interface ServerAddress {
  host: string
  port: number
  /** The local key. */
  key: string
  startedAt: number
  /** The project whose configuration it has. Undefined where options changed that. */
  project: string | undefined
}

/** Asks the server of this data folder. Undefined when none answers: then the hook decides itself. */
export async function askServer(dataDir: string, client: string, body: object): Promise<ServerReply | undefined> {
  for (const server of serversOf(dataDir)) {
    const reply = await post(server, `/v1/hooks/${client}`, JSON.stringify(body)).catch(() => undefined)
    if (reply !== undefined) return reply
  }
  return undefined
}

/**
 * The servers of this data folder, the newest first, as each wrote its address there. Only what this user alone can have
 * put there counts: a project may bring files of the same names.
 */
export function serversOf(dataDir: string): ServerAddress[] {
  try {
    if (!isPrivate(dataDir, "folder")) return []
    return readdirSync(dataDir)
      .filter((name) => /^server\.\d+\.json$/.test(name))
      .map((name) => join(dataDir, name))
      .filter((file) => isPrivate(file, "file"))
      .flatMap(readServer)
      .sort((one, other) => other.startedAt - one.startedAt)
  } catch {
    return []
  }
}

function isPrivate(path: string, kind: "folder" | "file"): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return false
  const isKind = kind === "folder" ? found.isDirectory() : found.isFile()
  if (!isKind || process.getuid === undefined) return isKind
  return found.uid === process.getuid() && (found.mode & 0o077) === 0
}

function readServer(file: string): ServerAddress[] {
  try {
    const { listens, localKey, pid, startedAt, project } = JSON.parse(readFileSync(file, "utf8")) as Record<
      string,
      unknown
    >
    if (typeof listens !== "string" || typeof localKey !== "string" || typeof pid !== "number") return []
    process.kill(pid, 0)
    const { hostname, port } = new URL(listens)
    const host = hostname.replaceAll(/[[\]]/g, "")
    return [
      {
        host: anywhere.includes(host) ? "127.0.0.1" : host,
        port: Number(port),
        key: localKey,
        startedAt: Number(startedAt),
        project: typeof project === "string" ? project : undefined,
      },
    ]
  } catch {
    return []
  }
}

const anywhere = ["0.0.0.0", "::"]

function post({ host, port, key }: ServerAddress, path: string, body: string): Promise<ServerReply | undefined> {
  const headers = {
    host: "localhost",
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    [localKeyHeader]: key,
  }
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, method: "POST", path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () => resolve(response.statusCode === 200 ? readReply(Buffer.concat(chunks)) : undefined))
    })
    sent.on("error", reject)
    sent.end(body)
  })
}

function readReply(body: Buffer): ServerReply | undefined {
  const reply = JSON.parse(body.toString("utf8")) as Partial<ServerReply>
  const { stdout, stderr, code } = reply
  return typeof stdout === "string" && typeof stderr === "string" && typeof code === "number"
    ? { stdout, stderr, code }
    : undefined
}
