import { expect, test } from "vitest"
import type { AgentView } from "../model/organisation.ts"
import type { ToolPermission } from "../model/permission.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { compile } from "./rules.ts"
import { agent, registered, role, rule, tools } from "./testing.ts"
import { hiddenBecause } from "./visible.ts"

const open = (permission: ToolPermission = {}) => registered({ effect: "none", permission })
const hidden = (tool: RegisteredTool, who: AgentView | undefined, order: "asc" | "desc" = "asc") =>
  hiddenBecause(tool, who, tools, order)

test.each<[string, RegisteredTool, AgentView | undefined, string | RegExp]>([
  ["agent", open(), undefined, /not known/],
  [
    "configuration",
    { ...open(), enabled: false },
    agent(),
    "Tool probe is switched off. Add it to tools.enabled to use it.",
  ],
  ["group", open(), agent({ groups: ["network"] }), "Role developer has no group with this tool; give it 'data'."],
  ["group", open(), agent({ groups: [] }), /no group/],
  ["role", open({ allowedRoles: ["tester"] }), agent(), "Role developer not in allowed roles"],
  [
    "department",
    open({ allowedDepartments: ["north"] }),
    agent({ department: "south" }),
    "Department south not allowed",
  ],
  ["department", open({ allowedDepartments: ["north"] }), agent(), "Department (none) not allowed"],
  ["level", open({ minLevel: 2 }), agent({ level: 1 }), "Level 1 below minimum 2"],
])("%s: the sentence says why [S2-88] [S2-89] [S2-90]", (voice, tool, who, sentence) => {
  expect(hidden(tool, who)).toMatchObject({
    voice,
    sentence: expect.stringMatching(sentence instanceof RegExp ? sentence : `^${sentence.replace(/[()]/g, "\\$&")}$`),
  })
})

test.each<[string, RegisteredTool, AgentView]>([
  ["a group", open(), agent({ groups: ["network", "data"] })],
  ["all groups", open(), agent({ groups: null })],
  ["its role", open({ allowedRoles: ["tester", "developer"] }), agent()],
  ["its department", open({ allowedDepartments: ["north"] }), agent({ department: "north" })],
  ["its level", open({ minLevel: 2 }), agent({ level: 2 })],
])("nothing hides a tool from who has %s", (_, tool, who) => {
  expect(hidden(tool, who)).toBeUndefined()
})

test("in the other order a larger level is the weaker one", () => {
  const tool = open({ minLevel: 2 })
  expect([1, 2].map((level) => hidden(tool, agent({ level }), "desc"))).toEqual([undefined, undefined])
  expect(hidden(tool, agent({ level: 3 }), "desc")?.sentence).toBe("Level 3 above maximum 2")
  expect(hidden(tool, agent({ level: NaN }))).toMatchObject({ voice: "level" })
})

test("the name of a role made by an agent gives no right", () => {
  const tool = open({ allowedRoles: ["developer"] })
  for (const madeBy of ["configuration", "person"] as const) {
    expect(hidden(tool, agent({ role: role("developer", { madeBy }) }))).toBeUndefined()
  }
  const made = agent({ role: role("developer", { madeBy: "agent" }) })
  expect(hidden(tool, made)?.sentence).toBe("Role developer not in allowed roles: it was made by an agent")
  expect(hidden(open(), made)).toBeUndefined()
})

test("what is frozen sees nothing, and is told by whom, when, why and how it ends", () => {
  const frozen = { by: "ann", at: Date.UTC(2026, 0, 2, 3), because: "Too fast" }
  const sentence =
    "Agent ada was frozen by ann at 2026-01-02T03:00:00.000Z: Too fast. A person ends it: qm thaw --agent ada, or qm thaw when everyone is frozen."
  expect(hidden(open(), agent({ frozen }))).toEqual({ voice: "freeze", source: "freeze", sentence })
  expect(hidden({ ...open(), enabled: false }, agent({ frozen: { by: "ann", at: 0 } }))?.sentence).toMatch(
    /00Z\. A person/,
  )
})

test.each<[string, Partial<AgentView>]>([
  ["group", { groups: ["network"] }],
  ["role", { role: role("tester") }],
  ["department", { department: "south" }],
  ["level", { level: 0 }],
])("a tool hidden from a spawner by its %s is hidden from everyone below", (_, change) => {
  const tool = open({ allowedRoles: ["developer"], allowedDepartments: ["north"], minLevel: 1 })
  const fine = agent({ department: "north", level: 1 })
  const above = { ...agent({ id: "boss", department: "north", level: 1 }), ...change }
  expect(hidden(tool, { ...fine, spawners: [fine] })).toBeUndefined()
  const reason = hidden(tool, { ...fine, spawners: [fine, above] })
  expect(reason).toMatchObject({ voice: "spawner", source: "agent boss" })
  expect(reason?.sentence).toContain(
    `Agent boss, which is above this one, may not use it: ${hidden(tool, above)?.sentence}`,
  )
})

test("a rule that denies whatever the input hides the tool from the agent and everyone it spawns", () => {
  const book = compile([rule("deny", "probe", { agent: ["boss"], because: "Not for the boss." })], tools)
  const policy = { hidden: (tool: RegisteredTool, who: AgentView) => book.select(tool, who).hidden }
  const because = (who: AgentView) => hiddenBecause(open(), who, tools, "asc", policy)
  const boss = agent({ id: "boss" })
  expect(because(boss)).toMatchObject({ voice: "rule", sentence: "A rule denies it: Not for the boss." })
  expect(because(agent({ id: "kid", spawners: [boss] }))).toMatchObject({ voice: "rule" })
  expect(because(agent({ id: "other" }))).toBeUndefined()
})
