import type { AppOptions } from "../app/app-options.ts"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { z } from "zod"
import { createApp, createQuartermaster } from "../app/create-app.ts"
import { readSetup } from "../app/setup.ts"
import type { Quartermaster } from "../app/quartermaster.ts"
import type { Config } from "../config/schema.ts"
import { defineTool } from "../schema/define-tool.ts"
import { silentLogger } from "../core/logger.ts"
import type { Tool, ToolSpec } from "../core/tool.ts"
import { newOwnerName } from "../store/sqlite/owner.ts"
import { openStore } from "../store/sqlite/store.ts"

/** A new folder for one test, removed after it. */
export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "qm-test-"))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** A new data folder for one test. The database is copied, because creating its tables takes longer than most tests. */
export async function dataFolder(): Promise<string> {
  const dir = temporaryFolder()
  emptyDatabase ??= createEmptyDatabase()
  writeFileSync(join(dir, "quartermaster.db"), await emptyDatabase, { mode: 0o600 })
  return dir
}

/** A new database file for one test, with all tables, all empty. */
export async function databaseFile(): Promise<string> {
  return join(await dataFolder(), "quartermaster.db")
}

/** A real app in a new folder, closed after the test. */
export async function openTestApp(
  config: Config = {},
  options: AppOptions = {},
): Promise<Quartermaster & { dir: string }> {
  const dir = config.data?.dir ?? (await dataFolder())
  // Where the app makes the folder, it notes that in the home folder.
  const home = existsSync(dir) ? {} : { home: temporaryFolder() }
  const app = await createQuartermaster(
    { ...config, data: { ...config.data, dir } },
    { onWaiting: () => {}, undoWaitMs: 60_000, ...home, ...options },
  )
  onTestFinished(() => app.close())
  return { ...app, dir }
}

/** Apps over one store, for laws that need a new app for each of a hundred runs. */
export async function openTestApps(): Promise<{
  dir: string
  openApp(config?: Config, options?: AppOptions): Promise<Quartermaster>
}> {
  const dir = await dataFolder()
  const owner = newOwnerName()
  const store = await openStore({ dataDir: dir, owner, logger: silentLogger, writes: "journal" })
  onTestFinished(() => store.close())
  return {
    dir,
    openApp: (config = {}, options = {}) =>
      createApp(
        {
          ...readSetup({ ...config, data: { ...config.data, dir } }, { sweepMs: 0, onWaiting: () => {}, ...options }),
          owner,
        },
        store,
      ),
  }
}

/** A tool without input that every agent may call, with what the test changes. */
export function tool(spec: Partial<ToolSpec<never>> & Pick<ToolSpec<never>, "execute">): Tool {
  return defineTool({
    name: "probe",
    group: "test",
    description: "A tool of a test.",
    effect: "none",
    input: z.object({}),
    ...spec,
  } as ToolSpec<never>)
}

/** A promise with its resolve and reject functions. */
export function deferred<T = void>(): { promise: Promise<T>; resolve(value: T): void; reject(error: unknown): void } {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}

/** Waits until the condition is true. After half a minute it throws with the sentence. */
export async function until(condition: () => boolean | Promise<boolean>, sentence: string): Promise<void> {
  for (let waited = 0; waited < 30_000; waited += 10) {
    if (await condition()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`It never happened that ${sentence}.`)
}

let emptyDatabase: Promise<Buffer> | undefined

async function createEmptyDatabase(): Promise<Buffer> {
  const dir = mkdtempSync(join(tmpdir(), "qm-test-"))
  try {
    const store = await openStore({ dataDir: dir, owner: newOwnerName(), logger: silentLogger, writes: "direct" })
    await store.close()
    return readFileSync(join(dir, "quartermaster.db"))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
