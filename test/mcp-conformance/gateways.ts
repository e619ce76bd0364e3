import { mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { stringify } from "yaml"
import { dist } from "../../src/interfaces/cli/testing.ts"
import type { Config } from "../../src/config/schema.ts"
import { serveHttp } from "../../src/interfaces/http/serve.ts"
import { openTestApp, temporaryFolder } from "../../src/testing/test-app.ts"
import type { ConnectionTarget } from "./stock-clients.ts"
import { fixture, packageFile } from "./suite.ts"

export type ThirdPartyServer = "everything" | "files" | "memory" | "fixture"

/** An app with third-party servers. */
export interface Gateway {
  /** Its workspace. The filesystem server serves the folder `files` in it. */
  folder: string
  target(agentId: "wanda" | "lee"): Promise<ConnectionTarget>
  /** The process id of a server; only if the app runs in this process. */
  pidOf?(server: ThirdPartyServer): number
}

/** Two ways to reach the app: over HTTP, and as a child process of its client. */
export const gateways: Record<"HTTP" | "stdio", (servers: readonly ThirdPartyServer[]) => Promise<Gateway>> = {
  HTTP: async (servers) => {
    const folder = makeFolder()
    const app = await openTestApp(configOf(folder, servers), { version: "1.0.0", workspace: folder })
    await app.mcp.ready()
    const { url, close } = await serveHttp(app, { port: 0, version: "1.0.0", inClient: "all" })
    onTestFinished(() => close())
    return {
      folder,
      pidOf: (server) => app.mcp.list().find(({ name }) => name === server)!.pid!,
      target: async (agentId) => {
        const { token } = await app.tokens.create({ agentId, person: "ann" }, "ann")
        return { url: new URL("/mcp", url).href, token }
      },
    }
  },

  stdio: (servers) => {
    const folder = makeFolder()
    const config = join(folder, "quartermaster.yml")
    writeFileSync(config, stringify(configOf(folder, servers)))
    const env = { PATH: process.env["PATH"] ?? "", HOME: join(folder, "home") }
    const argsFor = (agentId: string) => [join(dist, "qm.js"), "mcp", "--agent", agentId, "--config", config]
    return Promise.resolve({
      folder,
      target: (agentId) => Promise.resolve({ command: process.execPath, args: argsFor(agentId), cwd: folder, env }),
    })
  },
}

function makeFolder(): string {
  const folder = realpathSync(temporaryFolder())
  for (const name of ["files", "home"]) mkdirSync(join(folder, name))
  return folder
}

/** Third-party servers, the agent wanda who may use all of them, and lee who may use one. */
function configOf(folder: string, servers: readonly ThirdPartyServer[]): Config {
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
    approvals: { inClient: "all" },
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
      because: "The servers of this test are known, and reading is harmless.",
    })),
  }
}
