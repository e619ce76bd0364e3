import { lstatSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { onTestFinished } from "vitest"
import { failure } from "../../model/ending.ts"
import type { Files } from "../../model/files.ts"
import type { Processes } from "../../model/processes.ts"
import { findBubblewrap } from "../../testing/shell.ts"
import { openProcesses, type ProcessesOptions } from "./processes.ts"
import { isWithin } from "./seals.ts"

/** A real workspace with real processes, both gone after the test. */
export function openHere(options: Partial<ProcessesOptions> = {}): { processes: Processes; workspace: string } {
  const workspace = options.files?.workspace ?? realFolder()
  const processes = openProcesses({
    files: fence(workspace),
    sandbox: "off",
    dataFolder: options.dataFolder ?? realFolder(),
    environment: process.env,
    graceMs: 300,
    ...options,
  })
  onTestFinished(() => processes.close())
  return { processes, workspace }
}

/** As much of a fence as a command needs: where its folder really is. */
export function fence(workspace: string, allowed: readonly string[] = ["."]): Files {
  const places = allowed.map((path) => resolve(workspace, path))
  return {
    workspace,
    within: (paths: readonly string[] | undefined) => fence(workspace, paths),
    facts(path: string) {
      const real = realpathSync(resolve(workspace, path))
      if (!places.some((place) => isWithin(real, place))) throw failure("It is outside.", { toolCode: "outside" })
      return { kind: lstatSync(real).isDirectory() ? "folder" : "file", real, path }
    },
  } as unknown as Files
}

export function realFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "qm-test-")))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Both ways a command can run; the second only where bubblewrap works. */
export const layers: readonly ("off" | "auto")[] = "path" in findBubblewrap() ? ["off", "auto"] : ["off"]

/** Gives a command more time, up to half a minute, until it came as far as it should before its time was over. */
export async function withMoreTime<T>(
  run: (timeoutMs: number) => Promise<T>,
  cameFar: (result: T) => boolean,
  firstMs = 150,
): Promise<T> {
  for (let timeoutMs = firstMs; ; timeoutMs *= 3) {
    const result = await run(timeoutMs)
    if (cameFar(result) || timeoutMs > 10_000) return result
  }
}

/** How many processes have this text in their command line. */
export function countProcesses(text: string): number {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "latin1").includes(text)
    } catch {
      return false
    }
  }).length
}

/** A number of seconds nobody else sleeps, to find the sleeper by. */
export const someSeconds = () => `7${Math.floor(Math.random() * 1e9)}`

export const descriptorCount = () => readdirSync("/proc/self/fd").length
