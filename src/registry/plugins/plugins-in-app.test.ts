import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { openTestApp, temporaryFolder } from "../../testing/test-app.ts"
import { armFor } from "../experiments.ts"

const sample = (name: string) => fileURLToPath(new URL(`../../../plugins/${name}`, import.meta.url))

/** A plugin with a tool in two versions. */
function greeting(): string {
  const file = join(temporaryFolder(), "greeting.mjs")
  const one = (version: string) => `{ name: "greet", version: "${version}", description: "Greets.", effect: "none", input: { type: "object", properties: {} }, execute: () => "${version}" }` // prettier-ignore
  writeFileSync(
    file,
    `export default { name: "greeting", version: "1.0.0", tools: [${one("1.0.0")}, ${one("2.0.0")}] }`,
  )
  return file
}

test("the plugins of the configuration are there when the app is open, for roles that have their group", async () => {
  const system = await openTestApp({
    plugins: [sample("word-count.cjs"), "./nothing.mjs"],
    modules: { [sample("world-clock")]: { home: "Asia/Tokyo" } },
    org: { roles: [{ name: "clerk", toolGroups: ["world_clock"] }], agents: [{ id: "ada", role: "clerk" }] },
  })
  expect(system.plugins.list().map(({ name, state }) => `${name} ${state}`)).toEqual([
    "word_count loaded",
    "world_clock loaded",
    "./nothing.mjs failed",
  ])
  expect(system.visibleTools("ada").map(({ name }) => name)).toEqual(["hours_between", "time_in"])
  expect(await system.call({ agentId: "ada", tool: "time_in", input: {} })).toMatchObject({
    result: { zone: "Asia/Tokyo" },
  })
  const refused = await system.call({ agentId: "ada", tool: "count_words", input: { text: "" } })
  expect(refused.code).toBe("tool_not_available")
  expect(await system.call({ agentId: "operator", tool: "count_words", input: { text: "a b" } })).toMatchObject({
    result: { words: 2 },
  })
})

test("what was loaded is in the record with its hash, and who switched it off", async () => {
  const system = await openTestApp({ plugins: [sample("word-count.cjs")] })
  const [{ digest } = {}] = system.plugins.list()
  await system.plugins.switchOff("word_count", "ann")
  expect((await system.call({ agentId: "operator", tool: "count_words", input: {} })).code).toBe("unknown_tool")
  await system.settle()
  const story = await system.audit.show("plugin:word_count")
  expect(story).toMatchObject([
    { kind: "note", by: "configuration", text: expect.stringContaining(digest!.sha256) as string },
    { kind: "note", by: "ann", text: expect.stringContaining('"off"') as string },
  ])
})

test("an experiment gives each agent its version, a pin stands before it, and the record says which", async () => {
  const agents = ["a1", "a2", "a3", "a4", "a5", "a6"]
  const trial = { name: "greet-2", versions: ["1.0.0", "2.0.0"] as const, share: 0.5 }
  const system = await openTestApp({
    plugins: [greeting()],
    experiments: { "greet-2": { tool: "greet", versions: ["1.0.0", "2.0.0"] } },
    org: {
      roles: [{ name: "dev" }, { name: "held", pins: { greet: "1.0.0" } }],
      agents: [...agents.map((id) => ({ id, role: "dev" })), { id: "pinned", role: "held" }],
    },
  })
  for (const agentId of agents) {
    const result = await system.call({ agentId, tool: "greet", input: {} })
    const arm = armFor(trial, agentId)
    expect([result.version, result.result]).toEqual([arm, arm])
    expect(system.visibleTools(agentId).find(({ name }) => name === "greet")?.version).toBe(arm)
  }
  expect(new Set(agents.map((id) => armFor(trial, id))).size).toBe(2)
  const pinned = await system.call({ agentId: "pinned", tool: "greet", input: {} })
  expect(pinned.version).toBe("1.0.0")
  await system.settle()
  const report = await system.experiments.show("greet-2")
  const [first, second] = report!.arms
  const outside = armFor(trial, "pinned") === "1.0.0" ? 0 : 1
  expect(first.calls + second.calls + report!.otherwise).toBe(agents.length + 1)
  expect(report).toMatchObject({ otherwise: outside, arms: [{ failures: 0 }, { failures: 0 }] })
})

test("one that a person starts changes what agents are given at once, and what is listed", async () => {
  const org = { roles: [{ name: "dev" }], agents: Array.from({ length: 8 }, (_, index) => ({ id: `a${index}`, role: "dev" })) } // prettier-ignore
  const system = await openTestApp({ plugins: [greeting()], org })
  const versions = () =>
    org.agents.map(({ id }) => system.visibleTools(id).find(({ name }) => name === "greet")!.version)
  expect(new Set(versions())).toEqual(new Set(["2.0.0"]))
  const before = system.rules.version()
  await system.experiments.start({ name: "x", tool: "greet", versions: ["2.0.0", "1.0.0"] }, "ann")
  expect(versions()).toEqual(org.agents.map(({ id }) => armFor({ name: "x", versions: ["2.0.0", "1.0.0"], share: 0.5 }, id))) // prettier-ignore
  expect(system.rules.version()).not.toBe(before)
  await system.experiments.stop("x", "ann")
  expect(new Set(versions())).toEqual(new Set(["2.0.0"]))
})
