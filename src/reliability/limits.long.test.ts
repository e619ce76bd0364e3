import { expect, test } from "vitest"
import type { ToolResult } from "../model/result.ts"
import { temporaryFolder, until } from "../testing/open.ts"
import { Died, startHouse, type HouseProcess } from "./testing/house-process.ts"
import { marksIn } from "./testing/kill.ts"

const limit = 7
const names = Array.from({ length: 10 }, (_, index) => `limited_${index}`)
/** By the hour, so that no window ends while the test runs. */
const tools = names.map((name) => ({
  name,
  permission: { level: "public" as const, rateLimit: { maxCallsPerHour: limit, maxCallsPerMinute: 1000 } },
}))

const runsOf = (dir: string, name: string) => marksIn(dir).filter(({ note }) => note === name).length

/** One call of every tool after the other, as fast as it goes; what a killed process did not answer is left out. */
async function callAll(house: HouseProcess, agentId: string, times: number): Promise<ToolResult[]> {
  const calls = Array.from({ length: times }, () => names).flat()
  const outcomes = await Promise.allSettled(
    calls.map((tool) => house.app.call({ agentId, tool, input: { note: tool } })),
  )
  return outcomes.flatMap((outcome) => {
    if (outcome.status === "fulfilled") return [outcome.value]
    if (outcome.reason instanceof Died) return []
    throw outcome.reason as Error
  })
}

test("three processes call limited tools at once: exactly as many run as the limit says", async () => {
  const dir = temporaryFolder()
  const houses = await Promise.all([0, 1, 2].map(() => startHouse(dir, { tools })))
  const results = (await Promise.all(houses.map((house) => callAll(house, "operator", limit)))).flat()
  const refused = results.filter(({ code }) => code === "rate_limited")
  console.log(
    `Limits: 3 processes, ${results.length} calls, ${marksIn(dir).length} runs of 10 tools with a limit of ${limit}.`,
  )
  for (const name of names) expect([name, runsOf(dir, name)]).toEqual([name, limit])
  expect(refused).toHaveLength(results.length - names.length * limit)
  await Promise.all(houses.map((house) => house.kill()))
})

test("a process that is killed and comes back has no more calls than before", async () => {
  const dir = temporaryFolder()
  let told = 0
  for (let round = 0; round < 5; round++) {
    const houses = await Promise.all([0, 1, 2].map(() => startHouse(dir, { tools })))
    const calling = Promise.all(houses.map((house) => callAll(house, "operator", 2)))
    await new Promise((resolve) => setTimeout(resolve, 100 + round * 100))
    await Promise.all(houses.map((house) => house.kill()))
    told += (await calling).flat().filter(({ success }) => success).length
  }
  const last = await startHouse(dir, { tools })
  await callAll(last, "operator", limit)
  console.log(`Limits with kills: 15 processes killed, ${told} calls told as run, ${marksIn(dir).length} runs in all.`)
  for (const name of names) expect(runsOf(dir, name)).toBeLessThanOrEqual(limit)
  expect(marksIn(dir).length).toBeGreaterThanOrEqual(told)
  expect(await callAll(last, "operator", 1)).toMatchObject(names.map(() => ({ code: "rate_limited" })))
  await last.kill()
})

test("agents of one spawner in three processes share its limit", async () => {
  const dir = temporaryFolder()
  const config = {
    org: {
      roles: [{ name: "worker" }],
      agents: [{ id: "lead", role: "worker" }],
    },
  }
  const houses = await Promise.all([0, 1, 2].map(() => startHouse(dir, { tools, config })))
  const ann = { kind: "person", id: "ann" } as const
  const agents = ["one", "two", "three"]
  for (const id of agents) await houses[0]!.app.org.createAgent({ id, role: "worker", parentId: "lead" }, ann)
  const knowsAll = async ({ app }: HouseProcess) => {
    const known = (await app.org.listAgents()).map(({ id }) => id)
    return agents.every((id) => known.includes(id))
  }
  await until(async () => (await Promise.all(houses.map(knowsAll))).every(Boolean), "all know all agents")
  await Promise.all(houses.map((house, index) => callAll(house, agents[index]!, limit)))
  console.log(`Limits of a spawner: 3 agents in 3 processes, ${marksIn(dir).length} runs.`)
  for (const name of names) expect([name, runsOf(dir, name)]).toEqual([name, limit])
  await Promise.all(houses.map((house) => house.kill()))
})
