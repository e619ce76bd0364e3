import { expect, test } from "vitest"
import type { AgentActivity } from "../../../../agents/society/overview.ts"
import { plainStyle } from "../../../../lib/terminal-style.ts"
import { agentRows } from "./agent-tree.ts"
import { width } from "../../terminal/width.ts"

const id = "01a1ea51-2b3d-7077-becf-2b636d2b6498"
const nothing = { rounds: 0, calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 }
const agent = (more: Partial<AgentActivity>): AgentActivity => ({
  agentId: "dev",
  role: "developer",
  state: "idle",
  questions: [],
  waitsFor: [],
  unread: 0,
  spent: nothing,
  ...more,
})

const team = [
  agent({ agentId: "idle", role: "writer" }),
  agent({
    agentId: "root",
    role: "root",
    state: "delegated",
    waitsFor: [id],
    spent: { ...nothing, rounds: 3, calls: 2, inputTokens: 12_000 },
  }),
  agent({
    agentId: id,
    parentId: "root",
    state: "waiting",
    questions: [{ callId: "1", tool: "run_command", kind: "call" }],
  }),
  agent({
    agentId: "tess",
    role: "测试",
    parentId: id,
    state: "working",
    unread: 2,
    spent: { ...nothing, rounds: 1, cost: 0.5 },
  }),
]

test("the tree shows who does what, below whom, and what it has used; those who never worked are left out", () => {
  expect(agentRows(team, { columns: 100, paint: plainStyle })).toEqual([
    "root                    waits for …2b6498 (developer)                   2 calls · 12k tokens",
    "└─ …2b6498 (developer)  waits for a person: run_command",
    "   └─ tess (测试)       works, 2 unread                                 0 calls · 0 tokens · $0.5000",
  ])
})

test.each([
  ["unread", "dev (developer)  does not work yet: 'qm serve' runs agents, 1 unread"],
  ["unfinished", "dev (developer)  stands still: 'qm serve' runs agents, 1 unread"],
  ["no_model", "dev (developer)  waits for a model, 1 unread"],
] as const)("an agent nobody works for is not said to work: %s", (state, row) => {
  expect(agentRows([agent({ state, unread: 1 })], { columns: 100, paint: plainStyle })).toEqual([row])
})

test.each([60, 80, 120, 160])("no row is wider than %i columns", (columns) => {
  for (const row of agentRows(team, { columns, paint: plainStyle })) expect(width(row)).toBeLessThanOrEqual(columns)
})

test("where nobody has worked, it says how to begin", () => {
  expect(agentRows([team[0]!], { columns: 80, paint: plainStyle })).toEqual([
    expect.stringContaining("qm agents message root"),
  ])
})
