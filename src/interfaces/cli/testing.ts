import type { Quartermaster } from "../../app/quartermaster.ts"
import { spawn, type ChildProcess } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Readable } from "node:stream"
import { onTestFinished } from "vitest"
import type { LoadedConfig } from "../../config/load.ts"
import type { Config } from "../../config/schema.ts"
import type { Io, Runtime } from "./common/context.ts"
import { main } from "./main.ts"

export const dist = fileURLToPath(new URL("../../../dist/", import.meta.url))
/** Every module as a file of its own, for programs that use what is not public. */
export const build = fileURLToPath(new URL("../../../build/", import.meta.url))
const qm = join(dist, "qm.js")

export interface CliOutput {
  code: number | null
  stdout: string
  stderr: string
}

function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "quartermaster-cli-")))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A working folder and a home that live as long as the test, and the built command line in them. */
export function makeCli(env: Record<string, string> = {}) {
  const root = temporaryFolder()
  const children: ChildProcess[] = []
  onTestFinished(() => {
    // A call that still waits for a person would outlive the test by half an hour.
    for (const child of children) if (child.exitCode === null) child.kill("SIGKILL")
  })
  const cwd = join(root, "work")
  const home = join(root, "home")
  const bin = join(root, "bin")
  for (const folder of [cwd, home, bin]) mkdirSync(folder)
  symlinkSync(qm, join(bin, "qm"))
  const surroundings = { PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`, HOME: home, ...env }
  const start = (command: string, ...words: string[]) => {
    const child = spawn(command, words, { cwd, env: surroundings })
    children.push(child)
    return child
  }
  return {
    cwd,
    home,
    dataDir: join(cwd, ".quartermaster"),
    write: (name: string, text: string) => writeFileSync(join(cwd, name), text),
    /** Runs `qm` without a terminal; nothing comes in on stdin. */
    run: (...words: string[]) => outputOf(start(process.execPath, qm, ...words), ""),
    runWith: (stdin: string, ...words: string[]) => outputOf(start(process.execPath, qm, ...words), stdin),
    /** Runs a line of bash in which `qm` is the command line; a failure anywhere in a pipe is its exit code. */
    shell: (line: string) =>
      outputOf(start("bash", "-c", `set -o pipefail; qm() { "${process.execPath}" "${qm}" "$@"; }; ${line}`), ""),
    start: (...words: string[]) => start(process.execPath, qm, ...words),
    /** Runs `qm` in a terminal; each key is pressed, or each function called, once the text before it has appeared. */
    inTerminal: (words: string[], keys: TerminalSteps) => {
      const line = [process.execPath, qm, ...words].map((word) => `'${word}'`).join(" ")
      return pressed(start("script", "-qec", `stty cols 120 rows 40; exec ${line}`, "/dev/null"), keys)
    },
    /** Runs a shell with jobs in a terminal; `$QM` is the command line. */
    shellInTerminal: (lines: string) => {
      const text = `set -m\nQM="'${process.execPath}' '${qm}'"\n${lines}`
      return outputOf(start("script", "-qec", `exec bash -c ${quoted(text)}`, "/dev/null"), "")
    },
    /** Runs a module that uses the built library and the built command line. */
    script: (name: string, ...words: string[]) => start(process.execPath, join(cwd, name), ...words),
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

export function outputOf(child: ChildProcess, stdin: string): Promise<CliOutput> {
  const text = { stdout: "", stderr: "" }
  child.stdout?.setEncoding("utf8").on("data", (part: string) => (text.stdout += part))
  child.stderr?.setEncoding("utf8").on("data", (part: string) => (text.stderr += part))
  child.stdin?.on("error", () => {}).end(stdin)
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve({ code, ...text }))
  })
}

/** Resolves when the text has appeared on stdout or stderr. */
export function waitForOutput(child: ChildProcess, text: string): Promise<void> {
  let seen = ""
  return new Promise((resolve, reject) => {
    child.on("close", () => reject(new Error(`It ended without '${text}' and said: ${seen}`)))
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (part: Buffer) => {
        seen += part.toString()
        if (seen.includes(text)) resolve()
      })
    }
  })
}

/** The steps after a text has appeared in a terminal. A function gets the process that holds the terminal. */
export type TerminalSteps = readonly (readonly [after: string, does: string | ((terminal: ChildProcess) => unknown)])[]

/** A text that has not appeared after this time does not come. */
const appearsMs = 120_000

async function pressed(child: ChildProcess, keys: TerminalSteps): Promise<CliOutput> {
  const text = { stdout: "", stderr: "" }
  const waiting = [...keys]
  let from = 0
  let missing: string | undefined
  const giveUp = () => {
    missing = waiting[0]?.[0] ?? "the end"
    child.kill("SIGKILL")
  }
  let timer = setTimeout(giveUp, appearsMs)
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text.stdout += part
    const [next] = waiting
    const at = next === undefined ? -1 : text.stdout.indexOf(next[0], from)
    if (next === undefined || at === -1) return
    from = text.stdout.length
    waiting.shift()
    clearTimeout(timer)
    timer = setTimeout(giveUp, appearsMs)
    if (typeof next[1] === "string") child.stdin?.write(next[1])
    else next[1](child)
  })
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve))
  clearTimeout(timer)
  if (missing !== undefined) throw new Error(`'${missing}' did not appear in the terminal. This did: ${text.stdout}`)
  return { code, ...text }
}

/** A fake app: the parts a test needs, as plain data. */
export type AppParts = { [Part in keyof Quartermaster]?: Partial<Quartermaster[Part]> }

/** An organisation in which every agent that is named exists. */
const anyAgent: AppParts["org"] = {
  findAgent: (id) => ({
    id,
    roleId: "r",
    status: "active",
    createdBy: "",
    madeBy: "person",
    createdAt: "",
    source: "store",
  }),
}

const emptyApp: AppParts = {
  toolsInDialect: () => [],
  mcpTools: () => [],
  findTool: () => undefined,
  visibleTool: () => undefined,
  inputSchemaOf: () => undefined,
  sweep: () => Promise.resolve(),
  close: () => Promise.resolve(),
  org: anyAgent,
  society: { overview: () => Promise.resolve([]) },
  plugins: { list: () => [] },
  mcp: { list: () => [], ready: () => Promise.resolve(), pins: () => [] },
}

export interface RunOptions {
  env?: Record<string, string>
  stdin?: string
  runtime?: Partial<Runtime>
  config?: Config
  /** True if stdout and stderr are terminals. */
  terminal?: boolean
  /** The folder the command runs in; a new one if left out. */
  cwd?: string
}

/** Runs a command in this process with a fake app; nothing is stored. */
export async function runWithApp(
  parts: AppParts,
  words: readonly string[],
  options: RunOptions = {},
): Promise<CliOutput> {
  const text = { stdout: "", stderr: "" }
  const stream = (name: "stdout" | "stderr") =>
    ({
      write: (part: string) => (text[name] += part) !== "",
      on: () => {},
      isTTY: options.terminal === true,
    }) as unknown as Io["stdout"]
  const cwd = options.cwd ?? temporaryFolder()
  const io: Io = {
    stdin: Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]) as Io["stdin"],
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    env: options.env ?? {},
    cwd,
    home: join(cwd, "home"),
    program: { node: "/bin/node", script: "/bin/qm" },
    typed: "qm",
    leave: () => {},
  }
  const runtime: Runtime = {
    loadConfig: () => Promise.resolve(loadedConfig(options.config, join(cwd, ".quartermaster"))),
    openApp: () => Promise.resolve({ ...emptyApp, ...parts } as Quartermaster),
    identifyPerson: (as) => Promise.resolve({ id: as ?? "ada", proved: "this test" }),
    ...options.runtime,
  }
  const code = await main(words, io, runtime)
  return { code, ...text }
}

/** Returns the result of `loadConfig` for a trusted configuration without a file. */
export function loadedConfig(config: Config = {}, dataDir = "/nowhere"): LoadedConfig {
  const permissions = { trusted: {}, untrusted: {} }
  const workspace = dirname(dataDir)
  return {
    config,
    files: [],
    dataDir,
    workspace,
    project: workspace,
    warnings: [],
    trusted: true,
    ignored: [],
    ignoredAgents: [],
    permissions,
    permissionSources: {},
    ruleSources: [],
    unset: { servers: {}, models: {}, databases: {}, webSearch: [] },
  }
}
