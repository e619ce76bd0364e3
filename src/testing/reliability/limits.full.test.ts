import { expect, test } from "vitest"
import type { ToolResult } from "../../core/result.ts"
import { temporaryFolder, until } from "../test-app.ts"
import { ProcessDied, startApp, type AppProcess } from "./app-process.ts"
import { toolMarksIn } from "./kill-repeatedly.ts"

const limit = 7
const names = Array.from({ length: 10 }, (_, index) => `limited_${index}`)
/** Limits per hour, so that no window ends while the test runs. */
const tools = names.map((name) => ({
  name,
  permission: { level: "public" as const, rateLimit: { maxCallsPerHour: limit, maxCallsPerMinute: 1000 } },
}))

const runsOf = (dir: string, name: string) => toolMarksIn(dir).filter(({ note }) => note === name).length

/** Calls every tool `times` times, all at once. Results that a killed process did not return are left out. */
async function callAll(child: AppProcess, agentId: string, times: number): Promise<ToolResult[]> {
  const calls = Array.from({ length: times }, () => names).flat()
  const outcomes = await Promise.allSettled(
    calls.map((tool) => child.app.call({ agentId, tool, input: { note: tool } })),
  )
  return outcomes.flatMap((outcome) => {
    if (outcome.status === "fulfilled") return [outcome.value]
    if (outcome.reason instanceof ProcessDied) return []
    throw outcome.reason as Error
  })
}

test("three processes call limited tools at once: exactly as many run as the limit allows", async () => {
  const dir = temporaryFolder()
  const children = await Promise.all([0, 1, 2].map(() => startApp(dir, { tools })))
  const results = (await Promise.all(children.map((child) => callAll(child, "operator", limit)))).flat()
  const refused = results.filter(({ code }) => code === "rate_limited")
  console.log(
    `Limits: 3 processes, ${results.length} calls, ${toolMarksIn(dir).length} runs of 10 tools with a limit of ${limit}.`,
  )
  for (const name of names) expect([name, runsOf(dir, name)]).toEqual([name, limit])
  expect(refused).toHaveLength(results.length - names.length * limit)
  await Promise.all(children.map((child) => child.kill()))
})

test("killing and restarting processes gives no extra calls", async () => {
  const dir = temporaryFolder()
  let acknowledged = 0
  for (let round = 0; round < 5; round++) {
    const children = await Promise.all([0, 1, 2].map(() => startApp(dir, { tools })))
    const calling = Promise.all(children.map((child) => callAll(child, "operator", 2)))
    await new Promise((resolve) => setTimeout(resolve, 100 + round * 100))
    await Promise.all(children.map((child) => child.kill()))
    acknowledged += (await calling).flat().filter(({ success }) => success).length
  }
  const last = await startApp(dir, { tools })
  await callAll(last, "operator", limit)
  console.log(
    `Limits with kills: 15 processes killed, ${acknowledged} calls acknowledged, ${toolMarksIn(dir).length} runs in all.`,
  )
  for (const name of names) expect(runsOf(dir, name)).toBeLessThanOrEqual(limit)
  expect(toolMarksIn(dir).length).toBeGreaterThanOrEqual(acknowledged)
  expect(await callAll(last, "operator", 1)).toMatchObject(names.map(() => ({ code: "rate_limited" })))
  await last.kill()
})

test("children of one agent in three processes share its limit", async () => {
  const dir = temporaryFolder()
  const config = {
    org: {
      roles: [{ name: "worker" }],
      agents: [{ id: "lead", role: "worker" }],
    },
  }
  const children = await Promise.all([0, 1, 2].map(() => startApp(dir, { tools, config })))
  const ann = { kind: "person", id: "ann" } as const
  const agents = ["one", "two", "three"]
  for (const id of agents) await children[0]!.app.org.createAgent({ id, role: "worker", parentId: "lead" }, ann)
  const knowsAll = async ({ app }: AppProcess) => {
    const known = (await app.org.listAgents()).map(({ id }) => id)
    return agents.every((id) => known.includes(id))
  }
  await until(async () => (await Promise.all(children.map(knowsAll))).every(Boolean), "all know all agents")
  await Promise.all(children.map((child, index) => callAll(child, agents[index]!, limit)))
  console.log(`Limits of a parent: 3 agents in 3 processes, ${toolMarksIn(dir).length} runs.`)
  for (const name of names) expect([name, runsOf(dir, name)]).toEqual([name, limit])
  await Promise.all(children.map((child) => child.kill()))
})
