/** How each gateway is started and reached. All of them have the same server behind them. */
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const here = fileURLToPath(new URL(".", import.meta.url))
const packages = join(here, "node_modules")
const everything = join(packages, "@modelcontextprotocol/server-everything/dist/index.js")
const loopbackOnly = ["--import", new URL("loopback-only.mjs", import.meta.url).href]

/**
 * @typedef {object} Target
 * @property {string} row
 * @property {string} describe
 * @property {"ours" | "floor" | "peer"} kind
 * @property {(place: { folder: string, port: number }) => Promise<Started>} start
 *
 * @typedef {object} Started
 * @property {import("node:child_process").ChildProcess} child the process whose CPU counts
 * @property {object} target how the load reaches it
 * @property {object} [ready] the first message of our own script: port and tokens
 */

/** @type {Target[]} */
export const targets = [
  {
    row: "direct server-everything",
    kind: "peer",
    describe: "The server itself over streamable HTTP, without a gateway.",
    async start({ port, folder }) {
      const child = run([...loopbackOnly, everything, "streamableHttp"], folder, { PORT: String(port) })
      return { child, target: streamable(port, "echo") }
    },
  },
  {
    row: "mcp-proxy",
    kind: "peer",
    describe: "mcp-proxy 6.7.19 in front of the server on stdio.",
    async start({ port, folder }) {
      const proxy = join(packages, "mcp-proxy/dist/bin/mcp-proxy.mjs")
      const to = ["--", process.execPath, everything, "stdio"]
      const child = run([proxy, "--host", "127.0.0.1", "--port", String(port), ...to], folder)
      return { child, target: streamable(port, "echo") }
    },
  },
  {
    row: "supergateway --stateful",
    kind: "peer",
    describe: "supergateway 4.0.0 in front of the server on stdio, with sessions.",
    async start({ port, folder }) {
      const gateway = join(packages, "supergateway/dist/index.js")
      const to = ["--stdio", `${process.execPath} ${everything} stdio`, "--outputTransport", "streamableHttp"]
      const child = run([...loopbackOnly, gateway, ...to, "--stateful", "--port", String(port)], folder)
      return { child, target: streamable(port, "echo") }
    },
  },
  {
    row: "mcp-hub",
    kind: "peer",
    describe: "mcp-hub 4.2.1 in front of the server on stdio, by its SSE transport.",
    async start({ port, folder }) {
      const config = join(folder, "hub.json")
      mkdirSync(folder, { recursive: true })
      writeFileSync(
        config,
        JSON.stringify({ mcpServers: { everything: { command: process.execPath, args: [everything, "stdio"] } } }),
      )
      const hub = join(packages, "mcp-hub/dist/cli.js")
      const child = run([...loopbackOnly, hub, "--port", String(port), "--config", config], folder)
      return {
        child,
        target: { kind: "sse", url: `http://127.0.0.1:${port}/mcp`, tool: "everything__echo", headers: {} },
      }
    },
  },
  ours("Quartermaster", "legacy", "Token, rules, rate limit and audit log on; the server on stdio behind it."),
  ours("Quartermaster, 2026-07-28", "modern", "The same for a client of the newest revision, without a session."),
  ours(
    "Quartermaster, no fast path",
    "legacy",
    "The first of these with every message through the SDK's handlers.",
    "sdk",
  ),
  {
    row: "own front, no controls",
    kind: "floor",
    describe:
      "The same HTTP server and fast path with an echo behind it: no token, rules, limits, audit log or server.",
    async start({ folder }) {
      const { child, ready } = await runOurs("gateway-floor.mjs", [folder], folder)
      return { child, ready, target: streamable(ready.port, "echo", ready.worker) }
    },
  },
]

function ours(row, era, describe, way = "fast") {
  return {
    row,
    kind: "ours",
    describe,
    async start({ folder }) {
      const { child, ready } = await runOurs("gateway-app.mjs", [folder, everything, way], folder)
      return { child, ready, target: { ...streamable(ready.port, "everything__echo", ready.worker), era } }
    },
  }
}

export function streamable(port, tool, token) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return { kind: "streamable", url: `http://127.0.0.1:${port}/mcp`, tool, headers }
}

/** A port that is currently free. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** Runs on the first core, if the system supports that; the load runs on the second. Child processes inherit it. */
function run(args, folder, environment = {}, stdio = ["ignore", "ignore", "ignore"]) {
  mkdirSync(folder, { recursive: true })
  const [command, ...rest] = pinned(0, [process.execPath, ...args])
  return spawn(command, rest, { cwd: folder, stdio, env: { ...quiet(folder), ...environment } })
}

export function pinned(core, command) {
  return process.platform === "linux" ? ["taskset", "-c", String(core), ...command] : command
}

async function runOurs(script, args, folder) {
  const child = run(["--expose-gc", join(here, script), ...args], folder, {}, ["ignore", "ignore", 2, "ipc"])
  const ready = await new Promise((resolve, reject) => {
    child.once("message", resolve)
    child.once("exit", (code) => reject(new Error(`${script} ended early (${code}).`)))
  })
  return { child, ready }
}

function quiet(folder) {
  return {
    PATH: process.env.PATH,
    HOME: folder,
    NODE_ENV: "production",
    XDG_CONFIG_HOME: folder,
    XDG_STATE_HOME: folder,
  }
}
