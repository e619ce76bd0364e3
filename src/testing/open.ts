import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { z } from "zod"
import { assemble, createQuartermaster, type Quartermaster, type QuartermasterOptions } from "../app.ts"
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

/** A real system on a folder of its own, closed after the test. */
export async function open(
  config: Config = {},
  options: QuartermasterOptions = {},
): Promise<Quartermaster & { dir: string }> {
  const dir = config.data?.dir ?? temporaryFolder()
  const system = await createQuartermaster({ ...config, data: { ...config.data, dir } }, options)
  onTestFinished(() => system.close())
  return { ...system, dir }
}

/** Houses over one store, for laws that need a new one for each of a hundred runs. */
export async function openMany(): Promise<{
  dir: string
  house(config?: Config, options?: QuartermasterOptions): Quartermaster
}> {
  const dir = temporaryFolder()
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

/** Waits until the condition holds; fails with the sentence when it does not within five seconds. */
export async function until(condition: () => boolean | Promise<boolean>, sentence: string): Promise<void> {
  for (let waited = 0; waited < 5000; waited += 10) {
    if (await condition()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`It never happened that ${sentence}.`)
}
