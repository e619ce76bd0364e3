import { mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { stringify } from "yaml"
import { dist } from "../../../cli/testing.ts"
import type { Config } from "../../../config/schema.ts"
import { serveHttp } from "../../../http/serve.ts"
import { open, temporaryFolder } from "../../../testing/open.ts"
import type { Way } from "../stock/testing.ts"
import { fixture, packageFile } from "../testing.ts"

export type Server = "everything" | "files" | "memory" | "fixture"

/** A house with servers of others in it. */
export interface Entered {
  /** The folder it works in; `files` in it is what the server of files serves. */
  folder: string
  way(agentId: "wanda" | "lee"): Promise<Way>
  /** The process of a server; only where the house runs in this process. */
  pidOf?(server: Server): number
}

/** The two doors: the house behind HTTP, and the house as the child of its client. */
export const doors: Record<"HTTP" | "stdio", (servers: readonly Server[]) => Promise<Entered>> = {
  HTTP: async (servers) => {
    const folder = makeFolder()
    const house = await open(configOf(folder, servers), { version: "1.0.0", workspace: folder })
    await house.mcp.ready()
    const { url, close } = await serveHttp(house, { port: 0, version: "1.0.0" })
    onTestFinished(close)
    return {
      folder,
      pidOf: (server) => house.mcp.list().find(({ name }) => name === server)!.pid!,
      way: async (agentId) => {
        const { token } = await house.tokens.create({ agentId, person: "ann" }, "ann")
        return { url: new URL("/mcp", url).href, token }
      },
    }
  },

  stdio: (servers) => {
    const folder = makeFolder()
    const config = join(folder, "house.yml")
    writeFileSync(config, stringify(configOf(folder, servers)))
    const env = { PATH: process.env["PATH"] ?? "", HOME: join(folder, "home") }
    const words = (agentId: string) => [join(dist, "qm.js"), "mcp", "--agent", agentId, "--config", config]
    return Promise.resolve({
      folder,
      way: (agentId) => Promise.resolve({ command: process.execPath, args: words(agentId), cwd: folder, env }),
    })
  },
}

function makeFolder(): string {
  const folder = realpathSync(temporaryFolder())
  for (const name of ["files", "home"]) mkdirSync(join(folder, name))
  return folder
}

/** Servers that others wrote, wanda who may use all of them, and lee who may use one. */
function configOf(folder: string, servers: readonly Server[]): Config {
  const start = (name: string, ...args: string[]) => ({
    command: process.execPath,
    args: [packageFile(`server-${name}`, "dist/index.js"), ...args],
  })
  const known = {
    everything: start("everything", "stdio"),
    files: start("filesystem", join(folder, "files")),
    fixture: { command: process.execPath, args: [fixture] },
    memory: { ...start("memory"), env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } },
  }
  return {
    data: { dir: join(folder, "data") },
    mcpServers: Object.fromEntries(servers.map((name) => [name, known[name]])),
    org: {
      people: [{ id: "ann", name: "Ann" }],
      roles: [
        { name: "worker", toolGroups: [...servers] },
        { name: "librarian", toolGroups: servers.filter((name) => name === "memory") },
      ],
      agents: [
        { id: "wanda", role: "worker" },
        { id: "lee", role: "librarian" },
      ],
    },
    rules: ["everything:*", "memory:*", "fixture:*", "files:read_*"].map((tools) => ({
      allow: `mcp:${tools}`,
      because: "The servers of this test are known, and nobody minds what is read.",
    })),
  }
}
