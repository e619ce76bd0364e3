import { spawn } from "node:child_process"
import { closeSync, openSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { ensureDataFolder } from "../../../../lib/ensure-folder.ts"
import { isRunning } from "../../../../lib/is-running.ts"
import { printable } from "../../../../lib/printable.ts"
import type { CliCommand } from "../../common/cli-command.ts"
import type { CliContext, Run } from "../../common/context.ts"
import { printMessage, printOutput, printResult } from "../../common/output.ts"
import { asTyped, placeOptions } from "../../common/typed-command.ts"
import { CannotDo } from "../../common/usage.ts"
import { findServers } from "./server-file.ts"

const logName = "serve.log"
/** The most that a server needs to begin, and to end the calls that run. */
const beginMs = 60_000
const endMs = 30_000

interface BackgroundFlags {
  host?: string
  port?: string
  reloadPlugins?: boolean
  sample?: boolean
}

/** Starts `qm serve` in a process of its own, which outlives this one and its terminal. */
export async function startInBackground(context: CliContext, flags: BackgroundFlags): Promise<number> {
  const { io } = context
  const { dataDir } = await context.runtime.loadConfig(context.flags)
  ensureDataFolder(dataDir)
  const log = join(dataDir, logName)
  const output = openSync(log, "w", 0o600)
  const settings = context.flags.set.flatMap((pair) => ["--set", pair])
  const words = [io.program.script, ...placeOptions(context.flags), ...settings, "serve", ...serveOptions(flags)]
  const child = spawn(io.program.node, words, {
    cwd: io.cwd,
    env: io.env,
    detached: true,
    stdio: ["ignore", output, output],
  })
  closeSync(output)
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()).once("error", () => resolve()))
  child.unref()
  for (const until = Date.now() + beginMs; Date.now() < until;) {
    const server = (await findServers(dataDir)).find(({ pid }) => pid === child.pid)
    if (server !== undefined) {
      const { url, pid } = server
      const lines = [
        `Quartermaster serves at ${url} in the background (process ${pid}).`,
        `Data folder: ${dataDir}`,
        `Log: ${log}`,
        "",
        "qm open    print a link to the console",
        "qm stop    end it",
      ]
      printResult(context, { url, pid, dataDir, log }, asTyped(io, lines.join("\n")))
      return 0
    }
    if (await Promise.race([ended.then(() => true), sleep(50, false)])) break
  }
  printMessage(context, `The server did not begin. It printed:\n${printable(readFileSync(log, "utf8").trim())}`)
  return 1
}

function serveOptions({ host, port, sample, reloadPlugins }: BackgroundFlags): string[] {
  return [
    ...(host === undefined ? [] : ["--host", host]),
    ...(port === undefined ? [] : ["--port", port]),
    ...(sample === true ? ["--sample"] : []),
    ...(reloadPlugins === true ? ["--reload-plugins"] : []),
  ]
}

export function addStop(program: CliCommand, run: Run): void {
  program
    .command("stop")
    .example("qm stop")
    .description("end every server of the data folder; what waits for people keeps waiting")
    .action(run(stop))
}

async function stop(context: CliContext): Promise<number> {
  const { dataDir } = await context.runtime.loadConfig(context.flags)
  const servers = await findServers(dataDir)
  for (const { pid } of servers) process.kill(pid, "SIGTERM")
  for (const { pid, url } of servers) {
    for (const until = Date.now() + endMs; isRunning(pid); await sleep(50))
      if (Date.now() > until)
        throw new CannotDo("still_runs", `The server at ${url} (process ${pid}) still runs after 30 seconds. End it with: kill -9 ${pid}`) // prettier-ignore
  }
  const stopped = servers.map(({ url, pid }) => ({ url, pid }))
  if (context.flags.json) printResult(context, { stopped }, "")
  else if (servers.length === 0) printOutput(context, `No server runs here. The data folder is ${dataDir}.`)
  else for (const { url, pid } of servers) printOutput(context, `The server at ${url} (process ${pid}) has ended.`)
  return 0
}
