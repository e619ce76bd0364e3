import { spawn, type ChildProcess } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Readable } from "node:stream"
import { onTestFinished } from "vitest"
import type { App } from "../model/app.ts"
import type { House, Io, Loaded } from "./house.ts"
import { main } from "./main.ts"

export const dist = fileURLToPath(new URL("../../dist/", import.meta.url))
const qm = join(dist, "qm.js")

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** A working folder and a home that live as long as the test, and the built command line in them. */
export function makeDesk(env: Record<string, string> = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "quartermaster-cli-")))
  const children: ChildProcess[] = []
  onTestFinished(() => {
    // A call that still waits for a person would outlive the test by half an hour.
    for (const child of children) if (child.exitCode === null) child.kill("SIGKILL")
    rmSync(root, { recursive: true, force: true })
  })
  const cwd = join(root, "work")
  const home = join(root, "home")
  mkdirSync(cwd)
  mkdirSync(home)
  const surroundings = { PATH: process.env["PATH"] ?? "", HOME: home, ...env }
  const start = (command: string, ...words: string[]) => {
    const child = spawn(command, words, { cwd, env: surroundings })
    children.push(child)
    return child
  }
  return {
    cwd,
    dataDir: join(cwd, ".quartermaster"),
    write: (name: string, text: string) => writeFileSync(join(cwd, name), text),
    /** Runs `qm` without a terminal; nothing comes in on stdin. */
    run: (...words: string[]) => ended(start(process.execPath, qm, ...words), ""),
    runWith: (stdin: string, ...words: string[]) => ended(start(process.execPath, qm, ...words), stdin),
    /** Runs a line of bash in which `qm` is the command line; a failure anywhere in a pipe is its exit code. */
    shell: (line: string) =>
      ended(start("bash", "-c", `set -o pipefail; qm() { "${process.execPath}" "${qm}" "$@"; }; ${line}`), ""),
    start: (...words: string[]) => start(process.execPath, qm, ...words),
    /** Runs `qm` in a terminal; each key is pressed once the text before it has appeared. */
    inTerminal: (words: string[], keys: readonly (readonly [after: string, key: string])[]) => {
      const line = [process.execPath, qm, ...words].map((word) => `'${word}'`).join(" ")
      return pressed(start("script", "-qec", `stty cols 120 rows 40; ${line}`, "/dev/null"), keys)
    },
    /** Runs a shell with jobs in a terminal; `$QM` is the command line. */
    shellInTerminal: (lines: string) => {
      const text = `set -m\nQM="'${process.execPath}' '${qm}'"\n${lines}`
      return ended(start("script", "-qec", `exec bash -c ${quoted(text)}`, "/dev/null"), "")
    },
    /** Runs a module that uses the built library and the built command line. */
    script: (name: string, ...words: string[]) => start(process.execPath, join(cwd, name), ...words),
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

export function ended(child: ChildProcess, stdin: string): Promise<Ended> {
  const text = { stdout: "", stderr: "" }
  child.stdout?.setEncoding("utf8").on("data", (part: string) => (text.stdout += part))
  child.stderr?.setEncoding("utf8").on("data", (part: string) => (text.stderr += part))
  child.stdin?.on("error", () => {}).end(stdin)
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve({ code, ...text }))
  })
}

/** Resolves when the text has appeared on stdout or stderr. */
export function appears(child: ChildProcess, text: string): Promise<void> {
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

async function pressed(child: ChildProcess, keys: readonly (readonly [after: string, key: string])[]): Promise<Ended> {
  const text = { stdout: "", stderr: "" }
  const waiting = [...keys]
  let from = 0
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text.stdout += part
    const [next] = waiting
    const at = next === undefined ? -1 : text.stdout.indexOf(next[0], from)
    if (next === undefined || at === -1) return
    from = text.stdout.length
    waiting.shift()
    child.stdin?.write(next[1])
  })
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve))
  return { code, ...text }
}

/** An app of which only a few parts are asked for. */
export type AppParts = { [Part in keyof App]?: Partial<App[Part]> }

const emptyHouse = {
  shownTools: () => [],
  sweep: () => Promise.resolve(),
  close: () => Promise.resolve(),
  mcp: { list: () => [], ready: () => Promise.resolve(), pins: () => [] },
}

/** Runs a command in this process over an app made of plain data; nothing is stored. */
export async function runOver(
  parts: AppParts,
  words: readonly string[],
  given: {
    env?: Record<string, string>
    stdin?: string
    house?: Partial<House>
    config?: Loaded["config"]
    /** Whether what is written is seen by a person. */
    terminal?: boolean
  } = {},
): Promise<Ended> {
  const text = { stdout: "", stderr: "" }
  const stream = (name: "stdout" | "stderr") =>
    ({
      write: (part: string) => (text[name] += part) !== "",
      on: () => {},
      isTTY: given.terminal === true,
    }) as unknown as Io["stdout"]
  const io: Io = {
    stdin: Readable.from(given.stdin === undefined ? [] : [given.stdin]) as Io["stdin"],
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    env: given.env ?? {},
    cwd: "/nowhere",
    home: "/nowhere",
    leave: () => {},
  }
  const loaded = { config: given.config ?? {}, dataDir: "/nowhere/.quartermaster", warnings: [], trusted: true }
  const house = {
    loadConfig: () => Promise.resolve(loaded),
    open: () => Promise.resolve({ ...emptyHouse, ...parts } as App),
    whoIs: (as: string | undefined) => Promise.resolve({ id: as ?? "ada", proved: "this test" }),
    keepPersonToken: (id: string) => `/nowhere/${id}.token`,
    card: ({ callId }: { callId: string }) => Promise.resolve([`card of ${callId}`]),
    printable: (part: string) => part.replace(/(?![\n\t])\p{C}/gu, "?"),
    ...given.house,
  } as House
  const code = await main(words, io, house)
  return { code, ...text }
}
