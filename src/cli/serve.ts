import type { Command } from "commander"
import type { Loaded, Run, Served, Session } from "./house.ts"
import { jsonText, say, tell } from "./output.ts"
import { withApp } from "./session.ts"
import { cancelOnSignal } from "./signals.ts"
import { expected, UsageError } from "./usage.ts"

interface ServeFlags {
  host?: string
  port?: string
  reloadPlugins?: boolean
}

export function addServe(program: Command, run: Run): void {
  program
    .command("serve")
    .description("serve the agents' tools over HTTP until Ctrl-C: MCP at /mcp")
    .option("--host <address>", "the address to listen on; 127.0.0.1 when nothing else is configured")
    .option("--port <number>", "the port to listen on; 7420 when nothing else is configured, 0 for a free one")
    .option("--reload-plugins", "load plugins again when their files change, while you write one")
    .action(run(serve))
}

/** Serves until it is told to end; then what runs is cancelled, and what waits for people waits on. */
async function serve(session: Session, flags: ServeFlags): Promise<number> {
  const { io, house } = session
  const given = { host: flags.host, port: portOf(flags.port) }
  const { controller, stop } = cancelOnSignal(io.leave, () =>
    say(session, "Ending. Press Ctrl-C again to leave at once."),
  )
  const print = (text: string) => say(session, text)
  try {
    const parts = { stays: true, print, reloadPlugins: flags.reloadPlugins ?? false }
    return await withApp(session, parts, async (app, loaded) => {
      const served = await expected(house.serveHttp(app, loaded, given))
      try {
        tellWhere(session, served, loaded)
        await ended(controller.signal)
      } finally {
        await served.close()
      }
      return 0
    })
  } finally {
    stop()
  }
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new UsageError(`--port takes a number from 0 to 65535, and '${text}' is none.`)
}

function tellWhere(session: Session, { url }: Served, { dataDir }: Loaded): void {
  const { house, flags } = session
  const base = url.replace(/\/$/, "")
  const where = { url: base, mcp: `${base}/mcp`, healthz: `${base}/healthz` }
  if (flags.json)
    return tell(session, jsonText({ ...where, version: house.version(), dataDir, pid: process.pid }, house))
  const lines = [
    `Quartermaster ${house.version()} serves at ${base}, with its record in ${dataDir}.`,
    "",
    `  ${where.mcp}`.padEnd(width + 2) + "  MCP for agents; each needs a token:",
    ...rows.map(([command, what]) => `  ${command.padEnd(width)}  ${what}`),
    "",
    "It serves until Ctrl-C.",
  ]
  tell(session, house.printable(lines.join("\n")))
}

const rows = [
  ["qm tokens create --agent <id>", "make a token for an agent; 'qm agents list' shows who there is"],
  ["qm install claude|cursor|vscode", "let a client on this machine use the tools, without a token"],
  ["qm approvals", "what waits for a person; answer from any terminal, 'qm approvals watch' shows it as it comes"],
  ["qm mcp list", "the MCP servers whose tools are offered"],
  ["qm start", "a short tour of the command line"],
] as const
const width = Math.max(...rows.map(([command]) => command.length))

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })
}
