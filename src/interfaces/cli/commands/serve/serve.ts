import { randomBytes } from "node:crypto"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { counted } from "../../../../lib/counted.ts"
import type { LoadedConfig } from "../../../../config/load.ts"
import type { CliCommand } from "../../common/cli-command.ts"
import type { ServedHttp } from "../../../http/serve.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import { answerHere, canAnswerHere, type AnswerHere } from "../approvals/answer-at-terminal.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import type { Run, CliContext, OpenOptions } from "../../common/context.ts"
import { commandList } from "../../common/command-list.ts"
import { sampleMaker } from "../../../../org/sample.ts"
import { addSample, sampleContext, sampleWasRemoved } from "../demo/sample.ts"
import { findServers, readServerFiles, removeServerFile, writeServerFile } from "./server-file.ts"
import { localMcpClients } from "../mcp/local-clients.ts"
import { isConfigVariable } from "../../common/runtime.ts"
import { startInBackground } from "./background.ts"
import { outlivePluginErrors } from "../mcp/plugin-errors.ts"
import { startingServers } from "../../common/wait-for-servers.ts"
import { printMessage, printOutput } from "../../common/output.ts"
import { personOf, withApp } from "../../common/open-app.ts"
import { asTyped } from "../../common/typed-command.ts"
import { cancelOnSignal } from "../../common/signals.ts"
import { orCannotDo, UsageError } from "../../common/usage.ts"
import { version } from "../../common/version.ts"

interface ServeFlags {
  host?: string
  port?: string
  daemon?: boolean
  reloadPlugins?: boolean
  sample?: boolean
}

export function addServe(program: CliCommand, run: Run): void {
  program
    .command("serve")
    .example("qm serve --port 7420", "qm serve --sample")
    .description("serve the console, the HTTP API and MCP until Ctrl-C")
    .option("--host <address>", "address to listen on (default: server.host of the configuration, or 127.0.0.1)")
    .option(
      "--port <number>",
      "port to listen on (default: server.port of the configuration, or 7420); 0 for any free port",
    )
    .option("--sample", "where there is neither configuration nor data, make a sample organisation to try")
    .option("--daemon", "serve in the background; 'qm stop' ends it")
    .option("--reload-plugins", "reload plugins when their files change")
    .action(run(serve))
}

/**
 * Serves until a signal. Then running calls are ended and their callers told so; calls that wait for a person keep waiting,
 * and their callers get a ticket.
 */
async function serve(given: CliContext, flags: ServeFlags): Promise<number> {
  const port = portOf(flags.port)
  const { context, whyNoSample } = flags.sample === true ? await sampleContext(given) : { context: given }
  if (whyNoSample !== undefined) printMessage(context, whyNoSample)
  if (await tellRunning(context, port)) return 0
  if (flags.daemon === true) return startInBackground(context, flags)
  return serveIn(context, { ...flags, port }, flags.sample === true && whyNoSample === undefined)
}

/**
 * Says where a server of this folder runs already, with a link to it. True when that is enough: a second one is started only
 * on a port that is named with --port.
 */
async function tellRunning(context: CliContext, port: number | undefined): Promise<boolean> {
  const { dataDir } = await context.runtime.loadConfig(context.flags)
  if (readServerFiles(dataDir).length === 0) return false
  return withApp(context, {}, async (app, loaded) => {
    const running = await findServers(dataDir)
    const [server] = port === undefined ? running : running.filter(({ listens }) => listens.endsWith(`:${port}`))
    if (server === undefined) {
      for (const { url, pid } of running)
        printMessage(
          context,
          `Another server of this data folder runs at ${url} (process ${pid}). Both work on the same data.`,
        )
      return false
    }
    const { url, pid } = server
    if (context.flags.json) printOutput(context, printableJson({ alreadyRuns: true, url, dataDir, pid }))
    else {
      const lines = [
        `Quartermaster already serves this folder at ${url} (process ${pid}), so no second server was started.`,
        `Data folder: ${dataDir}`,
        "To start a second one beside it: qm serve --port 0",
        "",
        ...(await signInLines(context, app, url, loaded)),
      ]
      printOutput(context, printable(asTyped(context.io, lines.join("\n"))))
    }
    return true
  })
}

async function serveIn(
  context: CliContext,
  flags: Omit<ServeFlags, "port"> & { port: number | undefined },
  isSample: boolean,
): Promise<number> {
  const { io } = context
  const given = { host: flags.host, port: flags.port }
  const { controller, interrupt, stop } = cancelOnSignal(io.leave, () =>
    printMessage(context, "Stopping. Press Ctrl-C again to exit immediately."),
  )
  const print = (text: string) => printMessage(context, text)
  const endOnErrors = outlivePluginErrors(context)
  try {
    const parts: OpenOptions = { longLived: true, print, reloadPlugins: flags.reloadPlugins ?? false }
    return await withApp(context, parts, async (app, loaded) => {
      if (isSample && !(await addSample(app))) printMessage(context, sampleWasRemoved(loaded))
      const localKey = randomBytes(32).toString("base64url")
      const served = await orCannotDo(listen(context, app, loaded, { ...given, localKey }))
      const { dataDir } = loaded
      const { url: listens, publicUrl: url } = served
      const project = isPlain(context) ? loaded.project : undefined
      writeServerFile(dataDir, { url, listens, pid: process.pid, startedAt: Date.now(), localKey, project })
      try {
        await printAddresses(context, app, served, loaded)
        sayFailedPlugins(context, app)
        app.society.start()
        const { signal } = controller
        void announceServers(context, app, signal)
        await Promise.all([
          ended(signal),
          answerWhileServing(context, app, loaded, { signal, interrupt, note: `Console: ${served.publicUrl}` }),
        ])
      } finally {
        removeServerFile(dataDir, process.pid)
        await served.close(() => app.close())
      }
      return 0
    })
  } finally {
    endOnErrors()
    stop()
  }
}

/** Shows what waits in the terminal of the server, if there is one. If that fails, the server goes on without it. */
async function answerWhileServing(
  context: CliContext,
  app: Quartermaster,
  loaded: LoadedConfig,
  here: Pick<AnswerHere, "signal" | "interrupt" | "note">,
): Promise<void> {
  if (!canAnswerHere(context)) return
  try {
    const { id } = await personOf(context, app, loaded)
    await answerHere(context, app, id, here)
  } catch (error) {
    printMessage(context, `What waits cannot be answered in this terminal: ${errorMessage(error)}`)
  }
}

/** True if this process has the configuration that every other command of the project has. */
function isPlain({ flags, io }: CliContext): boolean {
  const { config, data, set } = flags
  return config === undefined && data === undefined && set.length === 0 && !Object.keys(io.env).some(isConfigVariable)
}

async function listen(
  context: CliContext,
  app: Quartermaster,
  loaded: LoadedConfig,
  given: { host: string | undefined; port: number | undefined; localKey: string },
) {
  const { config, workspace } = loaded
  const { serveHttp } = await import("../../../http/serve.ts")
  const { listenAddress } = await import("../../../../config/listen-address.ts")
  const { host, port } = listenAddress(config)
  const address = { host: given.host ?? host, port: given.port ?? port }
  const isSample = () =>
    app.org.listRoles().some(({ createdBy, status }) => createdBy === sampleMaker && status === "active")
  const { inClient } = config.approvals ?? {}
  const localMcp = localMcpClients(context, app, loaded)
  const local = { localKey: given.localKey, localMcp, askInClient: config.hooks?.askInClient }
  const options = { ...config.server, ...address, ...local, version: version(), workspace, isSample, inClient }
  const served = await serveHttp(app, options)
  app.addOwnAddress(served.url)
  return served
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new UsageError(`--port takes a number from 0 to 65535, and '${text}' is none.`)
}

async function printAddresses(
  context: CliContext,
  app: Quartermaster,
  { url, publicUrl }: ServedHttp,
  loaded: LoadedConfig,
): Promise<void> {
  const { flags, io } = context
  const { dataDir } = loaded
  const where = { url, ...(publicUrl === url ? {} : { publicUrl }), mcp: `${publicUrl}/mcp`, healthz: `${url}/healthz` }
  if (flags.json)
    return printOutput(context, printableJson({ ...where, version: version(), dataDir, pid: process.pid }))
  // Measured as it is printed: `npx qm` is longer than `qm`.
  const typed = rows.map(([command, what]) => [asTyped(io, command), what] as const)
  const lines = [
    `Quartermaster ${version()} serves at ${url}${publicUrl === url ? "" : `, for people at ${publicUrl}`}.`,
    `Data folder: ${dataDir}`,
    "",
    ...commandList([[where.mcp, "MCP for agents; each needs a token"]], io.stdout),
    "",
    ...commandList(typed, io.stdout),
    "",
    ...(canAnswerHere(context) ? ["What waits for a person is shown and answered here too."] : []),
    "Press Ctrl-C to stop.",
    "",
    ...(await signInLines(context, app, publicUrl, loaded)),
  ]
  printOutput(context, printable(lines.join("\n")))
}

/** The link where a person signs in to the console. Without an identity on this machine there is none. */
async function signInLines(
  context: CliContext,
  app: Quartermaster,
  base: string,
  loaded: LoadedConfig,
): Promise<string[]> {
  try {
    const { id: person } = await personOf(context, app, loaded)
    const { link } = await app.signIn.createLink({ person, isMachineUser: context.flags.as === undefined })
    return [
      `Sign in to the console as ${person} (once, for 15 minutes; '${asTyped(context.io, "qm open")}' prints a new link):`,
      "",
      `  ${base}/signin#${link}`,
      "",
    ]
  } catch (error) {
    return [`No link to the console can be made: ${errorMessage(error)}`, ""]
  }
}

const rows = [
  ["qm demo", "the first thing to try: a small team at work"],
  ["qm open", "print a new link to the console"],
  ["qm tokens create --agent <id>", "create a token for an agent"],
  ["qm install claude|cursor|vscode", "let a client here use the tools, without a token"],
  ["qm approvals", "list what waits for approval; answer from any terminal"],
  ["qm mcp list", "list the MCP servers whose tools are offered"],
  ["qm start", "print a short tour of the command line"],
] as const

function sayFailedPlugins(context: CliContext, { plugins }: Quartermaster): void {
  for (const { name, state, problem = "it failed." } of context.flags.json ? [] : plugins.list())
    if (state === "failed") printMessage(context, `Plugin ${name} was not loaded: ${problem}`)
}

/** Says that MCP servers start, and what became of them, because the first start of one can take a while. */
async function announceServers(context: CliContext, app: Quartermaster, signal: AbortSignal): Promise<void> {
  const starting = startingServers(app)
  if (context.flags.json || starting.length === 0) return
  printMessage(context, `MCP servers are starting: ${starting.join(", ")}.`)
  await app.mcp.ready()
  if (signal.aborted) return
  for (const { name, state, tools, problem } of app.mcp.list().filter((server) => starting.includes(server.name))) {
    const says =
      state === "connected" ? `offers ${counted(tools, "tool")}.` : `is ${state}: ${problem ?? "it has not answered."}`
    printMessage(context, `MCP server ${name} ${says}`)
  }
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })
}
