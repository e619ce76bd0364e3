import { expect, test } from "vitest"
import { agent, registered, role, tools } from "../testing.ts"
import { firstDenial, hiddenBecause } from "./visible.ts"

const context = { tools, levelOrder: "asc" } as const
const fitting = { department: "north", level: 1, groups: ["data"] }
const tool = registered({
  effect: "none",
  permission: { allowedRoles: ["developer"], allowedDepartments: ["north"], minLevel: 1 },
})

test("a tool that no check hides is visible", () => {
  expect(hiddenBecause(tool, agent(fitting), tools, "asc")).toBeUndefined()
})

test("the first check that denies gives the reason", () => {
  const frozen = { by: "ann", at: 0 }
  const off = { ...tool, enabled: false }
  const cases = [
    hiddenBecause(off, undefined, tools, "asc"),
    hiddenBecause(off, agent({ frozen, groups: [] }), tools, "asc"),
    hiddenBecause(off, agent({ groups: [] }), tools, "asc"),
    hiddenBecause(tool, agent({ groups: [], role: role("tester") }), tools, "asc"),
    hiddenBecause(tool, agent({ role: role("tester") }), tools, "asc"),
    hiddenBecause(tool, agent(), tools, "asc"),
    hiddenBecause(tool, agent({ department: "north" }), tools, "asc"),
    hiddenBecause(tool, agent({ ...fitting, ancestors: [agent()] }), tools, "asc"),
  ]
  expect(cases.map((reason) => reason?.check)).toEqual([
    "agent",
    "freeze",
    "configuration",
    "group",
    "role",
    "department",
    "level",
    "parent",
  ])
})

test("only a freeze ends the call with a code of its own", () => {
  expect(firstDenial(tool, agent({ frozen: { by: "ann", at: 0 } }), context)?.ending).toBe("frozen")
  expect(firstDenial(tool, agent(), context)?.ending).toBeUndefined()
})
