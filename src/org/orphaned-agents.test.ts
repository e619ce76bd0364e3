import { expect, test } from "vitest"
import { openTestApp } from "../testing/test-app.ts"
import { silentLogger } from "../core/logger.ts"
import { describeOrphanedAgents } from "./orphaned-agents.ts"

const agent = (id: string, parentId?: string, more: object = {}) =>
  ({ id, parentId, status: "active", source: "configuration", ...more }) as const

test("an agent without a parent, under root or under an active agent is not orphaned", () => {
  expect(
    describeOrphanedAgents([agent("root"), agent("a"), agent("b", "root"), agent("c", "b"), agent("d", "c")]),
  ).toEqual([])
})

test.each([
  ["its parent does not exist", [agent("a", "x")], ["Agent 'a' may use no tool: its parent 'x' does not exist."]],
  [
    "its parent was terminated",
    [agent("a", "x"), agent("x", "root", { status: "terminated", source: "store" })],
    ["'x' was terminated"],
  ],
  ["it is its own parent", [agent("a", "a")], ["is a circle (a ← a)"]],
  ["two agents are each other's parent", [agent("a", "b"), agent("b", "a")], ["(a ← b ← a)", "(b ← a ← b)"]],
  ["it is below such a circle", [agent("a", "b"), agent("b", "b")], ["(a ← b ← b)", "(b ← b)"]],
  [
    "it is below an orphaned agent",
    [agent("a", "b"), agent("b", "x")],
    ["the parent of 'b' above it, 'x' does not exist", "its parent 'x'"],
  ],
  [
    "the missing parent is that of an agent in the store",
    [agent("a", "b"), agent("b", "x", { source: "store" })],
    ["Agent 'a'"],
  ],
])("there is a warning about an agent when %s", (_what, agents, sentences) => {
  expect(describeOrphanedAgents(agents)).toEqual(sentences.map((part) => expect.stringContaining(part) as string))
})

test("the app warns of an orphaned agent once, before the first call", async () => {
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (text: string) => void warnings.push(text) }
  const org = { roles: [{ name: "dev" }], agents: [{ id: "a", role: "dev", parent: "nobody" }] }
  const app = await openTestApp({ org }, { logger })
  for (const text of ["1", "2"]) await app.call({ agentId: "operator", tool: "json_parse", input: { text } })
  const sentence = "Agent 'a' may use no tool: its parent 'nobody' does not exist. Correct its parent in org.agents."
  expect(warnings).toEqual([sentence])
})
