import { spawn, spawnSync } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"
import type { CallRequest } from "../model/call.ts"
import type { ToolResult } from "../model/result.ts"
import { library, zod } from "./children.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

/** Where bubblewrap is, or why it cannot be used here. */
export function findBubblewrap(): { path: string } | { why: string } {
  const folders = (process.env["PATH"] ?? "").split(delimiter)
  const path = folders.map((folder) => join(folder, "bwrap")).find((file) => existsSync(file))
  if (path === undefined) return { why: "bwrap is not installed (Debian: apt-get install bubblewrap)" }
  const { status, stderr } = spawnSync(path, ["--ro-bind", "/", "/", "--unshare-all", "--cap-drop", "ALL", "true"])
  return status === 0 ? { path } : { why: `bwrap does not work here (${String(stderr).trim()})` }
}

/**
 * The words before a line of bash that run it in a sandbox: the workspace and programs are there, the data folder in the
 * workspace is covered, home, configuration, network and all other processes are absent.
 */
export function sandbox(bwrap: string, workspace: string, dataDir: string): string[] {
  const program = dirname(dirname(realpathSync(process.execPath)))
  const links = ["bin", "lib", "lib64"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`])
  const readable = ["dist", "node_modules", "package.json"].map((name) => join(root, name))
  return [
    [bwrap, "--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--die-with-parent", "--new-session"],
    ["--clearenv", "--setenv", "PATH", `${dirname(process.execPath)}:/usr/bin:/bin`, "--setenv", "QM_INSIDE", "1"],
    ["--ro-bind", "/usr", "/usr", ...links, "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"],
    program === "/usr" ? [] : ["--ro-bind", program, program],
    readable.flatMap((path) => ["--ro-bind", realpathSync(path), path]),
    ["--bind", workspace, workspace, "--tmpfs", dataDir, "--chdir", workspace, "bash", "-c"],
  ].flat()
}

export interface HouseOptions {
  dataDir: string
  workspace: string
  home: string
  /** What runs a line: a sandbox, or bash alone. */
  words: readonly string[]
  /** Answers yes to every shell call, as a person who agrees to it would; all else waits. */
  agreeable: boolean
  /** Where the tool leaves the id of each call it ran for, before anything else. */
  marks: string
}

/** The house in a process of its own, with the tool `test_shell` and a port that counts who connects. */
export async function startHouse(options: HouseOptions) {
  const started = spawn(process.execPath, ["--input-type=module", "-e", house], {
    cwd: options.workspace,
    env: { PATH: process.env["PATH"], HOME: options.home, HOUSE: JSON.stringify(options) },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  })
  onTestFinished(() => void started.kill("SIGKILL"))
  const waiting = new Map<number, (value: unknown) => void>()
  const gone = new Promise<never>((_, reject) => {
    started.on("exit", (code, signal) => reject(new Error(`The house ended with ${signal ?? code}.`)))
  })
  let count = 0
  const ask = <T>(question: object): Promise<T> => {
    const number = ++count
    const answer = new Promise<T>((resolve) => waiting.set(number, resolve as never))
    started.send({ number, ...question }, () => {})
    const heard = Promise.race([answer, gone])
    // Who still waits when the test is over need not hear that the house is gone.
    heard.catch(() => {})
    return heard
  }
  started.on("message", ({ number, value }: { number: number; value: unknown }) => waiting.get(number)?.(value))
  const { port } = await ask<{ port: number }>({ about: "port" })
  return {
    pid: started.pid!,
    port,
    isAlive: () => started.exitCode === null && started.signalCode === null,
    connections: async () => (await ask<{ connections: number }>({ about: "port" })).connections,
    call: (request: CallRequest) => ask<ToolResult>({ request }),
  }
}

const house = `
  import { spawn } from "node:child_process"
  import { appendFileSync } from "node:fs"
  import { createServer } from "node:net"
  import { createQuartermaster, defineTool } from ${JSON.stringify(library)}
  import { z } from ${JSON.stringify(zod)}
  const { dataDir, words, agreeable, marks, home } = JSON.parse(process.env.HOUSE)
  delete process.env.HOUSE
  const wait = () => new Promise(() => {})
  const approvals = {
    showToolExecutionApproval: (tool) => (tool === "test_shell" ? Promise.resolve({ approved: true, by: "ann" }) : wait()),
    showToolResultApproval: wait,
  }
  const system = await createQuartermaster({ data: { dir: dataDir } }, agreeable ? { approvals } : {})
  system.registry.register(defineTool({
    name: "test_shell", group: "system", description: "Runs a line of bash.", effect: "execute",
    input: z.object({ command: z.string() }), timeoutMs: 120_000,
    execute({ command }, { callId }) {
      appendFileSync(marks, callId + "\\n", { flush: true })
      const env = { PATH: process.env.PATH, HOME: home, QM_INSIDE: "1" }
      const child = spawn(words[0], [...words.slice(1), command], { env, stdio: ["ignore", "pipe", "pipe"] })
      let output = ""
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text))
      return new Promise((resolve, reject) => {
        child.on("error", reject).on("close", (exitCode) => resolve({ output, exitCode }))
      })
    },
  }))
  let connections = 0
  const server = createServer((socket) => { connections++; socket.destroy() })
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address()
    process.on("message", async ({ number, request }) => {
      const value = request === undefined ? { port, connections } : await system.call(request)
      process.send({ number, value })
    })
    process.on("disconnect", () => process.exit())
  })
`
