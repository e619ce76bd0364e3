import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { dataFolder, openTestApp } from "../../testing/test-app.ts"
import { playedModel } from "../testing/played-model.ts"

const day = 24 * 60 * 60_000
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2030, 0, 1, 12) }))
afterEach(() => void vi.useRealTimers())

const price = { input: 10_000, output: 0 }
const org = {
  roles: [{ name: "worker", toolGroups: ["data"] }],
  agents: [
    { id: "lead", role: "worker" },
    { id: "helper", role: "worker", parent: "lead" },
    { id: "other", role: "worker" },
  ],
}

/** An app whose model uses 100 tokens, which cost 1, for each answer. */
function openApp(budgetPerDay: { maxTokens?: number; maxCost?: number }, dir?: string) {
  const model = playedModel(() => ({ usage: { inputTokens: 100, outputTokens: 0 }, say: "Done." }), { price })
  const data = dir === undefined ? {} : { data: { dir } }
  return openTestApp({ agents: { budgetPerDay }, org, ...data }, { models: { played: model } })
}

test.each([
  ["tokens", { maxTokens: 150 }, "150 tokens"],
  ["money", { maxCost: 1.5 }, "$1.50"],
])(
  "the %s of an agent's day hold over all its conversations, and the refusal names the key",
  async (_, given, text) => {
    const app = await openApp(given)
    expect(await app.chain("other").run("One.")).toMatchObject({ status: "completed" })
    expect(await app.chain("other", { durable: true }).run("Two.")).toMatchObject({ status: "completed" })
    for (const durable of [false, true]) {
      const { status, error } = await app.chain("other", { durable }).run("Three.")
      expect([status, error]).toEqual([
        "limit",
        `Agent other has used up its budget of the day (agents.budgetPerDay: ${text}). It goes on after midnight UTC, or when the configuration gives it more.`,
      ])
    }
    expect(await app.chain("lead").run("Another agent.")).toMatchObject({ status: "completed" })
    vi.setSystemTime(Date.now() + day)
    expect(await app.chain("other").run("Tomorrow.")).toMatchObject({ status: "completed" })
  },
)

test("what a sub-agent uses counts for the agents above it too", async () => {
  const app = await openApp({ maxTokens: 150 })
  await app.chain("lead").run("One.")
  await app.chain("helper").run("Two.")
  expect(await app.chain("helper").run("Three.")).toMatchObject({
    status: "limit",
    error: expect.stringContaining("Agent lead has used up its budget of the day"),
  })
})

test("a restart forgets nothing of an agent's day", async () => {
  const dir = await dataFolder()
  const first = await openApp({ maxTokens: 100 }, dir)
  await first.chain("other").run("One.")
  await first.close()
  expect(await (await openApp({ maxTokens: 100 }, dir)).chain("other").run("Two.")).toMatchObject({ status: "limit" })
})
