import { readFileSync, realpathSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { homedir } from "node:os"
import { resolve } from "node:path"
import { messageOf } from "./model/message.ts"
import type { QuartermasterOptions } from "./quartermaster.ts"
import { printable } from "./approval/printable.ts"
import { terminalAdapter } from "./approval/terminal.ts"
import type { House, Io, OpenOptions } from "./cli/house.ts"
import { main } from "./cli/main.ts"
import { UsageError } from "./cli/usage.ts"
import { findConfig } from "./config/find.ts"
import type { LoadedConfig } from "./config/load.ts"
import { httpAddress } from "./model/address.ts"
import { StoreUnavailable } from "./model/ending.ts"

const words = process.argv.slice(2)
if (words[0] === "-C") enter(words.splice(0, 2)[1])

const io: Io = {
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  home: homeFolder(),
  isInForeground,
  leave: (code) => process.exit(code),
}
const { cwd, env, home } = io

/** The parts of the house the command line asks for, each loaded when it does: most calls need few of them. */
const house: House = {
  version: () =>
    (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }).version,

  async loadConfig({ configPath, overrides }): Promise<LoadedConfig> {
    const said = configPath !== undefined || Object.keys(overrides).length > 0 || Object.keys(env).some(isSetting)
    if (!said && findConfig(cwd, env, home) === undefined) {
      const permissions = { trusted: {}, untrusted: {} }
      return {
        config: {},
        files: [],
        dataDir: resolve(cwd, ".quartermaster"),
        warnings: [],
        trusted: true,
        permissions,
        ruleSources: [],
      }
    }
    const { loadConfig } = await import("./config/load.ts")
    return loadConfig({ cwd, env, home, configPath, overrides })
  },

  async open({ config, dataDir, permissions, ruleSources, files }: LoadedConfig, given: OpenOptions = {}) {
    const { stays = false, ...parts } = given
    const { enterFolder } = await import("./config/known-folders.ts")
    enterFolder(dataDir, { home, env, named: config.data?.dir !== undefined })
    const { ownFolder } = await import("./config/find.ts")
    const { createQuartermaster } = await import("./app.ts")
    const options: QuartermasterOptions = {
      ...parts,
      environment: withoutToken(env),
      version: house.version(),
      home,
      sealed: [ownFolder(home)],
      sealedForWriting: files,
      ...(stays ? { writes: "journal" } : { writes: "direct", sweepMs: 0 }),
      tightening: permissions.untrusted,
      ruleSources,
    }
    try {
      return await createQuartermaster(
        {
          ...config,
          tools: { ...config.tools, permissions: permissions.trusted },
          data: { ...config.data, dir: dataDir },
        },
        options,
      )
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      throw new UsageError(messageOf(error))
    }
  },

  person({ yes }) {
    const terminal = { input: process.stdin, output: process.stderr, yes }
    return { approvals: terminalAdapter(terminal) }
  },

  async whoIs(as, { config }: LoadedConfig, app) {
    const { whoIs } = await import("./config/people.ts")
    return whoIs({ as, home, env, org: app.org, configured: config.org?.people })
  },

  async keepPersonToken(id, token) {
    const { keepPersonToken } = await import("./config/people.ts")
    return keepPersonToken(id, token, home, env)
  },

  async card(item, { whole }) {
    const { cardLines } = await import("./approval/card.ts")
    const { paintFor } = await import("./model/paint.ts")
    const { stdout } = process
    const columns = stdout.isTTY ? stdout.columns : 100
    return cardLines(item, { whole, paint: await paintFor(stdout, env), columns })
  },

  async readDataFile(file) {
    const { readYaml } = await import("./config/yaml.ts")
    const { ConfigError } = await import("./config/problem.ts")
    const text = await readFile(file, "utf8").catch((error: unknown) => {
      throw new UsageError(`The file cannot be read: ${messageOf(error)}.`)
    })
    const { value, problems } = readYaml(text)
    if (problems.length > 0) throw new ConfigError(problems.map((problem) => ({ file, key: "", ...problem })))
    return value
  },

  async restore(folder, { dataDir }, options) {
    const { restore } = await import("./store/restore.ts")
    const { rememberFolder } = await import("./config/known-folders.ts")
    const restored = await restore(folder, dataDir, options)
    rememberFolder(dataDir, home)
    return restored
  },

  async writeInitialConfig(folder) {
    const { writeInitialConfig } = await import("./config/init.ts")
    const { file, schemaFile, pin } = writeInitialConfig(folder, home, env)
    return { file, schemaFile, sha256: pin.sha256 }
  },

  async examine(given) {
    const { examine } = await import("./config/examine.ts")
    return examine(given, { cwd, home, env })
  },

  async examineFolder(given) {
    const { examineFolder } = await import("./config/known-folders.ts")
    return examineFolder(given, { cwd, home, env })
  },

  async sqlite() {
    const { openDatabase } = await import("./store/database.ts")
    const database = await openDatabase(":memory:")
    const { version } = database.prepare("select sqlite_version() as version").get() as { version: string }
    const packaged = await import("@photostructure/sqlite").catch(() => undefined)
    return {
      name: packaged && database instanceof packaged.DatabaseSync ? "@photostructure/sqlite" : "node:sqlite",
      version,
    }
  },

  async serveHttp(app, { config }: LoadedConfig, given) {
    const { serveHttp } = await import("./http/serve.ts")
    const { listening } = await import("./config/listening.ts")
    const { host, port } = listening(config)
    const version = house.version()
    const where = { host: given.host ?? host, port: given.port ?? port }
    const served = await serveHttp(app, { ...config.server, ...where, version })
    app.listensAt(served.url)
    return served
  },

  async serveStdio(app, speaker, streams) {
    const { serveStdio } = await import("./mcp/server/stdio.ts")
    await serveStdio(app, speaker, { ...streams, version: house.version() })
  },

  async importFrom(client, path) {
    const { importFrom } = await import("./config/import.ts")
    return importFrom(client, path, { cwd, home })
  },

  async writeImported(folder, { text }) {
    const { writeConfig } = await import("./config/init.ts")
    return writeConfig(folder, text, env)
  },

  async installInto(client, { agent, name, http }, { config }: LoadedConfig) {
    const { installInto } = await import("./config/install.ts")
    const { listening } = await import("./config/listening.ts")
    const { host, port } = listening(config)
    const reached = ["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host
    const wanted = http
      ? { url: `${httpAddress(reached, port)}/mcp`, agent }
      : { command: process.execPath, script: realpathSync(process.argv[1] ?? "qm"), folder: cwd, agent }
    return installInto(client, name, wanted, { cwd })
  },

  printable,
}

void start()

async function start(): Promise<void> {
  process.exitCode = await main(words, io, house)
  // A tool that does not stop when it is told to must not keep the process.
  for (const stream of [process.stdout, process.stderr]) await new Promise((done) => stream.write("", done))
  process.exit()
}

/** Works as if it had been started there; everything below looks at the working folder. */
function enter(folder: string | undefined): void {
  try {
    process.chdir(folder ?? "")
  } catch {
    process.stderr.write(`-C takes a folder, and '${printable(folder ?? "")}' is none that can be entered.\n`)
    process.exit(2)
  }
}

/** An account without a home has no configuration of its own, and nothing there that proves who it is. */
function homeFolder(): string {
  try {
    return homedir()
  } catch {
    return "/dev/null"
  }
}

/** What tools may know of the environment: not what proves who the person is. */
function withoutToken(given: Io["env"]): Io["env"] {
  const { QM_PERSON_TOKEN: _, ...rest } = given
  return rest
}

/** Where the system tells: whether our process group is the one the terminal listens to. */
function isInForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return fields[2] === fields[5]
  } catch {
    return true
  }
}

function isSetting(name: string): boolean {
  return name.startsWith("QM_") || name === "QUARTERMASTER_DATA"
}
