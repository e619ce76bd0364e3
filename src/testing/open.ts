import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { z } from "zod"
import { assemble, createQuartermaster } from "../app.ts"
import type { Quartermaster, QuartermasterOptions } from "../quartermaster.ts"
import type { Config } from "../config/schema.ts"
import { defineTool } from "../model/define-tool.ts"
import { silentLogger } from "../model/logger.ts"
import type { Tool, ToolSpec } from "../model/tool.ts"
import { ownerName } from "../store/owner.ts"
import { openStore } from "../store/store.ts"

/** A folder of its own for one test, removed after it. */
export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "qm-test-"))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** A data folder of its own for one test. Its tables are made already, which takes longer than most tests. */
export async function dataFolder(): Promise<string> {
  const dir = temporaryFolder()
  emptyDatabase ??= makeTables()
  writeFileSync(join(dir, "quartermaster.db"), await emptyDatabase, { mode: 0o600 })
  return dir
}

/** A database file of its own for one test, with all tables and nothing in them. */
export async function databaseFile(): Promise<string> {
  return join(await dataFolder(), "quartermaster.db")
}

/** A real system on a folder of its own, closed after the test. */
export async function open(
  config: Config = {},
  options: QuartermasterOptions = {},
): Promise<Quartermaster & { dir: string }> {
  const dir = config.data?.dir ?? (await dataFolder())
  const system = await createQuartermaster({ ...config, data: { ...config.data, dir } }, options)
  onTestFinished(() => system.close())
  return { ...system, dir }
}

/** Houses over one store, for laws that need a new one for each of a hundred runs. */
export async function openMany(): Promise<{
  dir: string
  house(config?: Config, options?: QuartermasterOptions): Quartermaster
}> {
  const dir = await dataFolder()
  const owner = ownerName()
  const store = await openStore({ dataDir: dir, owner, logger: silentLogger, writes: "journal" })
  onTestFinished(() => store.close())
  return {
    dir,
    house: (config = {}, options = {}) => assemble(config, { sweepMs: 0, ...options }, store, owner, silentLogger),
  }
}

/** A tool without input that everyone may call, unless the test says otherwise. */
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

/** A promise with its two ends outside. */
export function deferred<T = void>(): { promise: Promise<T>; resolve(value: T): void; reject(error: unknown): void } {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** Waits until the condition holds; fails with the sentence when it does not within half a minute. */
export async function until(condition: () => boolean | Promise<boolean>, sentence: string): Promise<void> {
  for (let waited = 0; waited < 30_000; waited += 10) {
    if (await condition()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`It never happened that ${sentence}.`)
}

let emptyDatabase: Promise<Buffer> | undefined

async function makeTables(): Promise<Buffer> {
  const dir = mkdtempSync(join(tmpdir(), "qm-test-"))
  try {
    const store = await openStore({ dataDir: dir, owner: ownerName(), logger: silentLogger, writes: "direct" })
    await store.close()
    return readFileSync(join(dir, "quartermaster.db"))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
