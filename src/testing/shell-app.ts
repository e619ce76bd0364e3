import { spawn, spawnSync } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"
import type { Config } from "../config/schema.ts"
import type { CallRequest } from "../core/call.ts"
import type { ToolResult } from "../core/result.ts"
import { libraryFile, zodModule } from "./child-process.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

/** The path of bubblewrap, or why it cannot be used here. */
export function findBubblewrap(): { path: string } | { why: string } {
  const folders = (process.env["PATH"] ?? "").split(delimiter)
  const path = folders.map((folder) => join(folder, "bwrap")).find((file) => existsSync(file))
  if (path === undefined) return { why: "bwrap is not installed (Debian: apt-get install bubblewrap)" }
  const { status, stderr } = spawnSync(path, ["--ro-bind", "/", "/", "--unshare-all", "--cap-drop", "ALL", "true"])
  return status === 0 ? { path } : { why: `bwrap does not work here (${String(stderr).trim()})` }
}

/**
 * The command that runs a line of bash in a sandbox. It has the workspace and programs. The data folder in the workspace is
 * hidden; home, configuration, network and all other processes are absent.
 */
export function bubblewrapCommand(bwrap: string, workspace: string, dataDir: string): string[] {
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

export interface ShellAppOptions {
  dataDir: string
  workspace: string
  home: string
  /** The command that runs a line of `test_shell`: a sandbox, or bash alone. */
  words: readonly string[]
  /** The configuration, without the data folder. */
  config?: Config
  /** Approves every call of `test_shell`. All other calls wait. */
  agreeable: boolean
  /** The file to which the tool first appends the id of each call it runs for. */
  marks: string
}

/** Starts an app in a child process, with the tool `test_shell` and a port that counts connections. */
export async function startShellApp(options: ShellAppOptions) {
  const started = spawn(process.execPath, ["--input-type=module", "-e", appSource], {
    cwd: options.workspace,
    // On PATH, so that the sandbox of run_command can read qm and its imports, which the attacks need.
    env: {
      PATH: `${process.env["PATH"]}:${root}`,
      HOME: options.home,
      SHELL_APP: JSON.stringify(options),
    },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  })
  onTestFinished(() => void started.kill("SIGKILL"))
  const pending = new Map<number, (value: unknown) => void>()
  const exited = new Promise<never>((_, reject) => {
    started.on("exit", (code, signal) => reject(new Error(`The app's process ended with ${signal ?? code}.`)))
  })
  let count = 0
  const ask = <T>(question: object): Promise<T> => {
    const number = ++count
    const answer = new Promise<T>((resolve) => pending.set(number, resolve as never))
    started.send({ number, ...question }, () => {})
    const result = Promise.race([answer, exited])
    // A question that is still open when the test ends must not become an unhandled rejection.
    result.catch(() => {})
    return result
  }
  started.on("message", ({ number, value }: { number: number; value: unknown }) => pending.get(number)?.(value))
  const { port } = await ask<{ port: number }>({})
  return {
    pid: started.pid!,
    port,
    isAlive: () => started.exitCode === null && started.signalCode === null,
    connections: async () => (await ask<{ connections: number }>({})).connections,
    call: (request: CallRequest) => ask<ToolResult>({ request }),
  }
}

const appSource = `
  import { spawn } from "node:child_process"
  import { appendFileSync } from "node:fs"
  import { createServer } from "node:net"
  import { createQuartermaster, defineTool } from ${JSON.stringify(libraryFile)}
  import { z } from ${JSON.stringify(zodModule)}
  const { dataDir, words, agreeable, marks, home, config } = JSON.parse(process.env.SHELL_APP)
  delete process.env.SHELL_APP
  const wait = () => new Promise(() => {})
  const approvals = {
    showToolExecutionApproval: (tool) => (tool === "test_shell" ? Promise.resolve({ approved: true, by: "ann" }) : wait()),
    showToolResultApproval: wait,
  }
  const app = await createQuartermaster({ ...config, data: { dir: dataDir } }, agreeable ? { approvals } : {})
  app.registry.register(defineTool({
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
      const value = request === undefined ? { port, connections } : await app.call(request)
      process.send({ number, value })
    })
    process.on("disconnect", () => process.exit())
  })
`
