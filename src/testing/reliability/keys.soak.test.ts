import { expect, test } from "vitest"
import type { ToolResult } from "../../core/result.ts"
import { temporaryFolder } from "../test-app.ts"
import { ProcessDied, startApp, type AppProcess, type MarkTool } from "./app-process.ts"
import { endingOf, toolMarksIn } from "./kill-repeatedly.ts"

const tools: readonly MarkTool[] = [{ name: "marked", permission: { level: "public" } }]
const config = { tools: { maxConcurrent: 8 }, agents: { maxConcurrentTools: 8 } }
const keys = Array.from({ length: 2000 }, (_, index) => `key-${index}`)

/** An app process that is started again whenever it was killed. */
class RestartingProcess {
  kills = 0
  #isOver = false
  #child: Promise<AppProcess>
  readonly #open: () => Promise<AppProcess>

  constructor(open: () => Promise<AppProcess>) {
    this.#open = open
    this.#child = open()
  }

  /** Calls again in the next process while the process is killed before it returns the result. */
  async call(key: string): Promise<ToolResult> {
    for (;;) {
      try {
        const input = { note: key, pauseMs: Number(key.slice(4)) % 20 }
        return await (await this.#child).app.call({ agentId: "operator", tool: "marked", input, key })
      } catch (error) {
        if (!(error instanceof ProcessDied)) throw error
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  }

  async kill(): Promise<void> {
    const child = await this.#child
    await child.kill()
    this.kills++
    if (!this.#isOver) this.#child = this.#open()
    await this.#child
  }

  async end(): Promise<void> {
    this.#isOver = true
    await (await this.#child).kill()
  }
}

/** Makes the calls with these keys, a few at a time, and notes each result. */
async function callAll(
  child: RestartingProcess,
  own: readonly string[],
  results: Map<string, Set<string>>,
): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let key = own[next++]; key !== undefined; key = own[next++]) {
      const result = await child.call(key)
      results.get(key)!.add(`${result.callId} ${endingOf(result)}`)
    }
  }
  await Promise.all(Array.from({ length: 6 }, worker))
}

async function killAtRandom(children: readonly RestartingProcess[], isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 200))
    await children[Math.floor(Math.random() * children.length)]!.kill()
  }
}

test("three processes, 2,000 calls with keys, processes killed at random: none runs twice, and every key has one ending", async () => {
  const dir = temporaryFolder()
  const children = [0, 1, 2].map(() => new RestartingProcess(() => startApp(dir, { tools, config })))
  const results = new Map(keys.map((key) => [key, new Set<string>()]))
  const state = { done: false }
  const killing = killAtRandom(children, () => state.done)
  // At least two processes call with each key, most of them at nearly the same time.
  await Promise.all(
    children.map((child, index) =>
      callAll(
        child,
        keys.filter((_, place) => place % 3 !== index || place % 2 === 0),
        results,
      ),
    ),
  )
  state.done = true
  await killing
  // In the end every process calls with every key.
  await Promise.all(children.map((child) => callAll(child, keys, results)))

  const runs = new Map<string, number>()
  for (const { note } of toolMarksIn(dir)) runs.set(note, (runs.get(note) ?? 0) + 1)
  const endings = new Map(keys.map((key) => [key, [...results.get(key)!]]))
  const kills = children.reduce((sum, child) => sum + child.kills, 0)
  const interrupted = keys.filter((key) => endings.get(key)![0]?.endsWith("interrupted"))
  console.log(
    `Keys: ${keys.length} keys, 3 processes, ${kills} kills, ${runs.size} ran, ${interrupted.length} interrupted, ${[...runs.values()].filter((count) => count > 1).length} twice.`,
  )
  expect([...runs].filter(([, count]) => count > 1)).toEqual([])
  expect([...endings].filter(([, all]) => all.length !== 1)).toEqual([])
  expect(
    [...endings].filter(
      ([key, [ending]]) => ending!.endsWith("success") !== (runs.get(key) === 1) && !interrupted.includes(key),
    ),
  ).toEqual([])
  expect(kills).toBeGreaterThan(5)

  const reader = await startApp(dir)
  const rows = new Map<string, string[]>()
  for (const row of await reader.app.audit.list({ limit: 100_000 }))
    rows.set(row.callId, [...(rows.get(row.callId) ?? []), endingOf(row)])
  const recorded = keys
    .map((key) => endings.get(key)![0]!.split(" "))
    .filter(([callId, ending]) => rows.get(callId!)?.join() !== ending)
  expect(recorded).toEqual([])
  expect(await reader.app.audit.verify()).toMatchObject({ ok: true })
  await Promise.all([reader.kill(), ...children.map((child) => child.end())])
})
