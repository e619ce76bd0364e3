import { expect, test } from "vitest"
import type { OrganisationTreeJson, TreeAgentJson } from "../../../src/interfaces/http/routes/org-page-schemas.ts"
import { branchesOf, findIn, isFoldedAtFirst, withChanges } from "./arrange.ts"

const agent = (id: string, parentId?: string, role = "developer") =>
  ({ id, role, ...(parentId === undefined ? {} : { parentId }) }) as TreeAgentJson
const tree = (agents: TreeAgentJson[], more = {}): OrganisationTreeJson => ({
  revision: "1",
  whole: true,
  agents,
  gone: [],
  cost: 0,
  now: 0,
  ...more,
})

test("agents stand below whoever made them, and count all below them", () => {
  const [root] = branchesOf([agent("root"), agent("dev", "root"), agent("tess", "dev"), agent("ana", "root")])
  expect([root?.agent.id, root?.count]).toEqual(["root", 3])
  expect(root?.below.map((each) => [each.agent.id, each.count])).toEqual([
    ["dev", 1],
    ["ana", 0],
  ])
})

test("who has a parent that is not there stands at the top", () => {
  expect(branchesOf([agent("lost", "gone")]).map((each) => each.agent.id)).toEqual(["lost"])
})

test("what is found keeps those above it", () => {
  const branches = branchesOf([
    agent("root"),
    agent("dev", "root"),
    agent("tess", "dev", "tester"),
    agent("ana", "root"),
  ])
  expect(findIn(branches, "TESTER")[0]?.below.map((each) => each.agent.id)).toEqual(["dev"])
  expect(findIn(branches, "nobody")).toEqual([])
})

test("wide branches are folded only among many agents", () => {
  const [wide] = branchesOf([agent("root"), ...Array.from({ length: 50 }, (_, at) => agent(`a${at}`, "root"))])
  expect([isFoldedAtFirst(wide!, 51), isFoldedAtFirst(wide!, 20)]).toEqual([true, false])
})

test("what did not change stays the same object, and who ended is gone", () => {
  const before = tree([agent("a"), agent("b"), agent("c")])
  const changed = agent("b", undefined, "tester")
  const after = withChanges(before, tree([changed, agent("d")], { whole: false, gone: ["c"] }))
  expect(after.agents.map(({ id }) => id)).toEqual(["a", "b", "d"])
  expect([after.agents[0] === before.agents[0], after.agents[1] === changed]).toEqual([true, true])
})
