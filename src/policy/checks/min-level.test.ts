import { expect, test } from "vitest"
import type { AgentView } from "../../core/organisation.ts"
import { agent, registered, role } from "../testing.ts"
import { lookVisible } from "../testing/checks.ts"
import { minLevelCheck } from "./min-level.ts"

const tool = registered({ effect: "none", permission: { minLevel: 2 } })

test("a level below the minimum hides the tool", () => {
  expect(lookVisible(minLevelCheck, tool, agent({ level: 1 }))).toMatchObject([
    { check: "level", source: "system:probe@1.0.0", code: "level_below_minimum", params: { level: 1, limit: 2 } },
  ])
  expect(lookVisible(minLevelCheck, tool, agent({ level: 2 }))).toEqual([])
  expect(lookVisible(minLevelCheck, registered(), agent())).toEqual([])
})

test("with levelOrder desc a larger level is the weaker one", () => {
  const codes = (level: number) =>
    lookVisible(minLevelCheck, tool, agent({ level }), { levelOrder: "desc" }).map(({ code }) => code)
  expect([1, 2, 3].map(codes)).toEqual([[], [], ["level_above_maximum"]])
})

test("a level that is no number is not enough", () => {
  expect(lookVisible(minLevelCheck, tool, agent({ level: NaN }))).toHaveLength(1)
})

const ownLevel = (madeBy: "configuration" | "person", level: number): AgentView => {
  const who = agent({ level: 1 })
  return { ...who, agent: { ...who.agent, madeBy, level } }
}

test.each<[string, AgentView, string | undefined]>([
  ["a configured role", agent(), "In org.roles, for role developer: level: 2"],
  ["a role of a person", agent({ role: role("helper", { madeBy: "person" }) }), "qm roles update helper --level 2"],
  ["a configured agent's own level", ownLevel("configuration", 1), "In org.agents, for agent ada: level: 2"],
  ["the own level of an agent of a person", ownLevel("person", 1), "tools.permissions.probe.minLevel: 1"],
  ["a level that only an agent above holds down", ownLevel("person", 5), undefined],
])("the fix for %s", (_, who, fix) => {
  expect(lookVisible(minLevelCheck, tool, who)).toMatchObject([{ fix }])
})
