import { execFileSync, spawn } from "node:child_process"
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

interface Client {
  connect(): Promise<void>
  query(config: {
    text: string
    values?: readonly unknown[]
    rowMode: "array"
    queryMode?: "extended"
  }): Promise<{ rows?: unknown[][] }>
  end(): Promise<void>
}

// By a variable, because the package has no types.
const name: string = "pg"
const { Client } = (await import(name)) as { Client: new (config: { connectionString: string }) => Client }

export function testClient(connectionString: string): Client {
  return new Client({ connectionString })
}

/** The folder of PostgreSQL's programs. Tests that need them are skipped where there are none. In CI that is a failure. */
export const postgresFolder = findPrograms()

function findPrograms(): string | undefined {
  const versions = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql") : []
  const folders = versions.map((version) => join("/usr/lib/postgresql", version, "bin"))
  return [...folders, ...(process.env["PATH"] ?? "").split(":")].find((folder) => existsSync(join(folder, "initdb")))
}

export interface TestServer {
  /** The address of a database for a user. */
  url(user: "agent" | "postgres", database: string): string
  /** Runs statements as a superuser. */
  run(script: string, database?: string): Promise<unknown[][]>
  stop(): Promise<void>
}

/** Starts a real server in a temporary folder, on a socket there, as a user who is not root: it refuses to run as root. */
export async function startPostgres(): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), "qm-pg-"))
  const data = join(folder, "data")
  mkdirSync(data)
  const isRoot = process.getuid?.() === 0
  const user = isRoot ? { uid: 65534, gid: 65534 } : {}
  if (isRoot) for (const path of [folder, data]) chownSync(path, user.uid!, user.gid!)
  const options = { ...user, cwd: folder, env: { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8" } }
  const program = (file: string) => join(postgresFolder!, file)
  const init = ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8"]
  execFileSync(program("initdb"), init, { ...options, stdio: "ignore" })
  const settings = ["listen_addresses=", `unix_socket_directories=${folder}`, "fsync=off", "max_connections=20"]
  const args = ["-D", data, ...settings.flatMap((setting) => ["-c", setting])]
  const server = spawn(program("postgres"), args, { ...options, stdio: "ignore" })
  const url = (role: string, database: string) =>
    `postgres://${role}:Sup3r%20secret@/${database}?host=${encodeURIComponent(folder)}`
  const run = async (script: string, database = "postgres") => {
    const client = testClient(url("postgres", database))
    await client.connect()
    try {
      const result = await client.query({ text: script, rowMode: "array" })
      return result.rows ?? []
    } finally {
      await client.end()
    }
  }
  for (let tries = 0; ; tries++) {
    const isUp = await run("select 1").then(() => true, () => false) // prettier-ignore
    if (isUp) break
    if (tries > 300 || server.exitCode !== null) throw new Error("PostgreSQL did not start.")
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await run("create role agent login")
  return {
    url,
    run,
    async stop() {
      const ended = new Promise((resolve) => server.once("exit", resolve))
      server.kill("SIGQUIT")
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
