import { lstatSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { onTestFinished } from "vitest"
import { failure } from "../../core/ending.ts"
import type { Files } from "../files/file-access.ts"
import type { Processes } from "./process-access.ts"
import { findBubblewrap } from "../../testing/shell-app.ts"
import { openProcesses, type ProcessesOptions } from "./processes.ts"
import { findSandbox } from "./sandbox.ts"
import { isWithin } from "./is-within.ts"

/** A real workspace with real processes, both removed after the test. */
export function openTestProcesses(options: Partial<ProcessesOptions> = {}): {
  processes: Processes
  workspace: string
} {
  const workspace = options.files?.workspace ?? realTemporaryFolder()
  const processes = openProcesses({
    files: fakeFiles(workspace),
    sandbox: "off",
    environment: process.env,
    graceMs: 300,
    ...options,
  })
  onTestFinished(() => processes.close())
  return { processes, workspace }
}

/** As much of `Files` as a command needs: where its folder really is. */
export function fakeFiles(workspace: string, allowed: readonly string[] = ["."]): Files {
  const places = allowed.map((path) => resolve(workspace, path))
  return {
    workspace,
    within: (paths: readonly string[] | undefined) => fakeFiles(workspace, paths),
    facts(path: string) {
      const real = realpathSync(resolve(workspace, path))
      if (!places.some((place) => isWithin(real, place))) throw failure("The path is outside.", { toolCode: "outside" })
      return { kind: lstatSync(real).isDirectory() ? "folder" : "file", real, path }
    },
  } as unknown as Files
}

export function realTemporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "qm-test-")))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Bubblewrap with a script that runs between our check of the workspace and its mounts. */
export function racingSandbox(script: string): ProcessesOptions["findSandbox"] {
  return (folder) => {
    const found = findSandbox(folder)
    if (!("program" in found)) return found
    const program = join(realTemporaryFolder(), "bwrap")
    writeFileSync(program, `#!/bin/sh\n${script}\nexec ${found.program} "$@"\n`, { mode: 0o700 })
    return { ...found, program }
  }
}

/** Without and with the sandbox; the second only where bubblewrap works. */
export const sandboxModes: readonly ("off" | "auto")[] = "path" in findBubblewrap() ? ["off", "auto"] : ["off"]

/** Retries with a longer timeout, up to half a minute, until the command got far enough before it. */
export async function withMoreTime<T>(
  run: (timeoutMs: number) => Promise<T>,
  gotFarEnough: (result: T) => boolean,
  firstMs = 150,
): Promise<T> {
  for (let timeoutMs = firstMs; ; timeoutMs *= 3) {
    const result = await run(timeoutMs)
    if (gotFarEnough(result) || timeoutMs > 10_000) return result
  }
}

/** Counts the processes with this text in their command line. */
export function countProcesses(text: string): number {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "latin1").includes(text)
    } catch {
      return false
    }
  }).length
}

/** A unique number of seconds, to find a `sleep` process by. */
export const uniqueSeconds = () => `7${Math.floor(Math.random() * 1e9)}`

export const countDescriptors = () => readdirSync("/proc/self/fd").length
