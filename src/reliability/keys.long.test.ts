import { expect, test } from "vitest"
import type { ToolResult } from "../model/result.ts"
import { temporaryFolder } from "../testing/open.ts"
import { Died, startHouse, type HouseProcess, type MarkTool } from "./testing/house-process.ts"
import { endingOf, marksIn } from "./testing/kill.ts"

const tools: readonly MarkTool[] = [{ name: "marked", permission: { level: "public" } }]
const config = { tools: { maxConcurrent: 8 }, agents: { maxConcurrentTools: 8 } }
const keys = Array.from({ length: 2000 }, (_, index) => `key-${index}`)

/** A house that is opened again whenever it was killed. */
class Reborn {
  kills = 0
  #isOver = false
  #house: Promise<HouseProcess>
  readonly #open: () => Promise<HouseProcess>

  constructor(open: () => Promise<HouseProcess>) {
    this.#open = open
    this.#house = open()
  }

  /** Asks again, of the next process, as long as the one that was asked is killed before it answers. */
  async ask(key: string): Promise<ToolResult> {
    for (;;) {
      try {
        const input = { note: key, pauseMs: Number(key.slice(4)) % 20 }
        return await (await this.#house).app.call({ agentId: "operator", tool: "marked", input, key })
      } catch (error) {
        if (!(error instanceof Died)) throw error
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  }

  async kill(): Promise<void> {
    const house = await this.#house
    await house.kill()
    this.kills++
    if (!this.#isOver) this.#house = this.#open()
    await this.#house
  }

  async end(): Promise<void> {
    this.#isOver = true
    await (await this.#house).kill()
  }
}

/** Asks every process for the keys that are its own, a few at a time, and notes each answer. */
async function askAll(house: Reborn, own: readonly string[], told: Map<string, Set<string>>): Promise<void> {
  let next = 0
  const lane = async () => {
    for (let key = own[next++]; key !== undefined; key = own[next++]) {
      const result = await house.ask(key)
      told.get(key)!.add(`${result.callId} ${endingOf(result)}`)
    }
  }
  await Promise.all(Array.from({ length: 6 }, lane))
}

async function killAtRandom(houses: readonly Reborn[], isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 200))
    await houses[Math.floor(Math.random() * houses.length)]!.kill()
  }
}

test("three processes, 2,000 calls with keys, processes killed at random: none runs twice, and every key has one ending", async () => {
  const dir = temporaryFolder()
  const houses = [0, 1, 2].map(() => new Reborn(() => startHouse(dir, { tools, config })))
  const told = new Map(keys.map((key) => [key, new Set<string>()]))
  const state = { done: false }
  const killing = killAtRandom(houses, () => state.done)
  // Each key is asked for by two processes at least, most of them at nearly the same time.
  await Promise.all(
    houses.map((house, index) =>
      askAll(
        house,
        keys.filter((_, place) => place % 3 !== index || place % 2 === 0),
        told,
      ),
    ),
  )
  state.done = true
  await killing
  // In the end every process is asked for every key.
  await Promise.all(houses.map((house) => askAll(house, keys, told)))

  const runs = new Map<string, number>()
  for (const { note } of marksIn(dir)) runs.set(note, (runs.get(note) ?? 0) + 1)
  const endings = new Map(keys.map((key) => [key, [...told.get(key)!]]))
  const kills = houses.reduce((sum, house) => sum + house.kills, 0)
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

  const reader = await startHouse(dir)
  const rows = new Map<string, string[]>()
  for (const row of await reader.app.audit.list({ limit: 100_000 }))
    rows.set(row.callId, [...(rows.get(row.callId) ?? []), endingOf(row)])
  const recorded = keys
    .map((key) => endings.get(key)![0]!.split(" "))
    .filter(([callId, ending]) => rows.get(callId!)?.join() !== ending)
  expect(recorded).toEqual([])
  expect(await reader.app.audit.verify()).toMatchObject({ ok: true })
  await Promise.all([reader.kill(), ...houses.map((house) => house.end())])
})
