import { expect, test } from "vitest"
import type { ActivityJson } from "./activity-schemas.ts"
import { serving } from "./testing.ts"

async function watching() {
  const scene = await serving()
  const { ask } = await scene.signIn("pat", false)
  const read = async (query = "") => (await ask("GET", `/v1/activity${query}`)).body as ActivityJson
  const verdicts = async (query = "") =>
    (await read(query)).lanes.map(
      ({ agentId, spans }) => `${agentId}: ${spans.map(({ verdict }) => verdict).join(" ")}`,
    )
  return { ...scene, read, verdicts }
}

test("each agent has a lane with its calls and what became of them", async () => {
  const { app, read, verdicts } = await watching()
  await app.rules.add({ deny: "send", agent: "bob", because: "Bob is quiet." }, "user")
  await app.call({ agentId: "ada", tool: "look", input: {} })
  const rejected = await app.call({ agentId: "ada", tool: "send", input: {} }, { waitMs: 0 })
  await app.approvals.answer(rejected.callId, { kind: "reject" }, "pat")
  await app.resume(rejected.callId)
  await app.call({ agentId: "ada", tool: "leak", input: {} }, { waitMs: 0 })
  await app.call({ agentId: "bob", tool: "send", input: {} })
  expect((await verdicts()).toSorted()).toEqual(["ada: ran not_approved held", "bob: refused"])
  const { lanes } = await read()
  const [, asked, held] = lanes.find(({ agentId }) => agentId === "ada")!.spans
  expect(asked).toMatchObject({ by: "pat", waits: [{ from: expect.any(Number), to: expect.any(Number) }] })
  expect(held!.to).toBeUndefined()
  expect(held!.waits).toEqual([{ from: expect.any(Number) }])
})

test("what agents do is filtered by agent, tool and verdict", async () => {
  const { app, verdicts } = await watching()
  await app.call({ agentId: "ada", tool: "look", input: {} })
  await app.call({ agentId: "bob", tool: "look", input: {} })
  await app.call({ agentId: "bob", tool: "send", input: {} }, { waitMs: 0 })
  expect(await verdicts("?agentId=ada")).toEqual(["ada: ran"])
  expect(await verdicts("?tool=send")).toEqual(["bob: waits"])
  expect(await verdicts("?verdict=waits")).toEqual(["bob: waits"])
  expect(await verdicts("?until=1000")).toEqual([])
})

test("of more calls than the limit the newest are there, and it is said where they begin", async () => {
  const { app, read } = await watching()
  for (let times = 0; times < 5; times++) await app.call({ agentId: "ada", tool: "look", input: {} })
  const { lanes, cut } = await read("?limit=3")
  expect(lanes[0]!.spans).toHaveLength(3)
  expect(cut).toBeLessThanOrEqual(lanes[0]!.spans[0]!.to!)
  expect((await read()).cut).toBeUndefined()
})
