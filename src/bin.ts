import { readFileSync } from "node:fs"
import { homedir } from "node:os"
import { resolve } from "node:path"
import type { QuartermasterOptions } from "./app.ts"
import { printable } from "./approval/printable.ts"
import { terminalAdapter, terminalAsk } from "./approval/terminal.ts"
import type { House, Io, OpenOptions } from "./cli/house.ts"
import { main } from "./cli/main.ts"
import { UsageError } from "./cli/usage.ts"
import { findConfig } from "./config/find.ts"
import type { LoadedConfig } from "./config/load.ts"
import { StoreUnavailable } from "./model/ending.ts"

const io: Io = {
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  home: homedir(),
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
      }
    }
    const { loadConfig } = await import("./config/load.ts")
    return loadConfig({ cwd, env, home, configPath, overrides })
  },

  async open({ config, dataDir, permissions }: LoadedConfig, { unattended, ...parts }: OpenOptions = {}) {
    const { createQuartermaster } = await import("./app.ts")
    const approvals = { ...config.approvals, ...(unattended === undefined ? {} : { unattended }) }
    const options: QuartermasterOptions = {
      ...parts,
      environment: env,
      writes: "direct",
      sweepMs: 0,
      tightening: permissions.untrusted,
    }
    try {
      return await createQuartermaster(
        {
          ...config,
          tools: { ...config.tools, permissions: permissions.trusted },
          data: { ...config.data, dir: dataDir },
          approvals,
        },
        options,
      )
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      throw new UsageError(error instanceof Error ? error.message : String(error))
    }
  },

  person({ yes }) {
    const terminal = { input: process.stdin, output: process.stderr, yes }
    return { approvals: terminalAdapter(terminal), ask: terminalAsk(terminal) }
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

  printable,
}

void start()

async function start(): Promise<void> {
  process.exitCode = await main(process.argv.slice(2), io, house)
  // A tool that does not stop when it is told to must not keep the process.
  for (const stream of [process.stdout, process.stderr]) await new Promise((done) => stream.write("", done))
  process.exit()
}

function isSetting(name: string): boolean {
  return name.startsWith("QM_") || name === "QUARTERMASTER_DATA"
}
