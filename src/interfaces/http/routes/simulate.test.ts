import { expect, onTestFinished, test } from "vitest"
import { until } from "../../../testing/test-app.ts"
import { serving } from "./testing.ts"

/** Every character of the text is compared with every part of this pattern. */
const slow = `${"*?".repeat(450)}[b]`

test("rules whose examples take too long to match are refused at once", async () => {
  const { signIn } = await serving()
  const { ask } = await signIn("pat", false)
  const examples = { miss: [{ tool: "send", input: { text: "a".repeat(50_000) } }] }
  const rules = [{ deny: "send", args: { "/text": slow }, because: "Slow.", examples }]
  expect(await ask("POST", "/v1/rules/simulate", { rules })).toMatchObject({
    status: 422,
    body: { code: "too_much_work", detail: expect.stringContaining("take too long to match") },
  })
})

/** An app with recorded calls that take long to decide again with these rules. */
async function withSlowRules() {
  const scene = await serving()
  for (let number = 0; number < 40; number++)
    await scene.app.call({ agentId: "ada", tool: "look", input: { number, text: "a".repeat(3000) } })
  await scene.app.settle()
  return { ...scene, rules: [{ deny: "look", args: { "/text": slow }, because: "Slow." }] }
}

test("other work gets its turn during a simulation, and can end it", async () => {
  const { app, rules } = await withSlowRules()
  const leave = new AbortController()
  const simulation = app.rules.simulate(rules, {}, { signal: leave.signal })
  // The timer fires only when the simulation lets it.
  setTimeout(() => leave.abort(), 1)
  await expect(simulation).rejects.toThrow(/aborted/)
})

test("while a simulation runs the server takes no second one, and it ends with its request", async () => {
  const { served, signIn, rules } = await withSlowRules()
  const { ask, session } = await signIn("pat", false)
  const leave = new AbortController()
  onTestFinished(() => leave.abort())
  const first = fetch(`${served.url}/v1/rules/simulate`, {
    method: "POST",
    headers: { ...session, "content-type": "application/json" },
    body: JSON.stringify({ rules }),
    signal: leave.signal,
  }).catch(() => undefined)
  const none = { rules: [] }
  await until(async () => (await ask("POST", "/v1/rules/simulate", none)).status === 429, "the first runs")
  leave.abort()
  await first
  await until(async () => (await ask("POST", "/v1/rules/simulate", none)).status === 200, "the first has ended")
})

test("a simulation that takes longer than its limit ends with a sentence that says what to do", async () => {
  const { app } = await serving()
  await app.call({ agentId: "ada", tool: "look", input: {} })
  await app.settle()
  await expect(app.rules.simulate([], {}, { mostMs: -1 })).rejects.toThrow("with a later 'since', or try fewer rules.")
})
