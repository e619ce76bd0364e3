import fc from "fast-check"
import { expect, test } from "vitest"
import { open, openMany } from "../testing/open.ts"
import { silentLogger } from "./logger.ts"
import { lostAgents } from "./lost-agents.ts"

const agent = (id: string, parentId?: string, more: object = {}) =>
  ({ id, parentId, status: "active", source: "configuration", ...more }) as const

test("an agent under root, under nobody or under one that has something is not lost", () => {
  expect(lostAgents([agent("root"), agent("a"), agent("b", "root"), agent("c", "b"), agent("d", "c")])).toEqual([])
})

test.each([
  ["nobody knows its parent", [agent("a", "x")], ["Agent 'a' has nothing: its parent 'x' does not exist."]],
  [
    "its parent has ended",
    [agent("a", "x"), agent("x", "root", { status: "terminated", source: "store" })],
    ["'x' has ended"],
  ],
  ["it is its own parent", [agent("a", "a")], ["comes round again (a ← a)"]],
  ["two are above each other", [agent("a", "b"), agent("b", "a")], ["(a ← b ← a)", "(b ← a ← b)"]],
  ["it stands below such a round", [agent("a", "b"), agent("b", "b")], ["(a ← b ← b)", "(b ← b)"]],
  [
    "it stands below one that is lost",
    [agent("a", "b"), agent("b", "x")],
    ["the parent of 'b' above it, 'x' does not exist", "its parent 'x'"],
  ],
  ["an agent of the store is between", [agent("a", "b"), agent("b", "x", { source: "store" })], ["Agent 'a'"]],
])("an agent is told of when %s", (_what, agents, told) => {
  expect(lostAgents(agents)).toEqual(told.map((part) => expect.stringContaining(part) as string))
})

test("what is told of is just what has nothing, whoever stands above whom", async () => {
  const ids = ["a", "b", "c", "d"]
  const parents = fc.tuple(...ids.map(() => fc.constantFrom(undefined, "root", "nobody", ...ids)))
  const { house } = await openMany()
  fc.assert(
    fc.property(parents, (above) => {
      const agents = ids.map((id, place) => ({ id, role: "dev", ...(above[place] && { parent: above[place] }) }))
      const { org } = house({ org: { roles: [{ name: "dev" }], agents } })
      const lost = lostAgents(org.listAgents()).map((sentence) => /'(.*?)'/.exec(sentence)?.[1])
      expect(lost).toEqual(ids.filter((id) => org.view(id) === undefined))
    }),
    { numRuns: 100 },
  )
})

test("a house with a lost agent says so before its first call, once", async () => {
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (text: string) => void warnings.push(text) }
  const org = { roles: [{ name: "dev" }], agents: [{ id: "a", role: "dev", parent: "nobody" }] }
  const system = await open({ org }, { logger })
  for (const text of ["1", "2"]) await system.call({ agentId: "operator", tool: "json_parse", input: { text } })
  const sentence = "Agent 'a' has nothing: its parent 'nobody' does not exist. Correct its parent in org.agents."
  expect(warnings).toEqual([sentence])
})
