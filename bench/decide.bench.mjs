/**
 * One decision with 10 rules and with 1,000: a fair mix of tool names, groups, patterns, roles, agents, departments,
 * arguments and touches. About a third of the rules is about the tools and agents that call, so that only the input
 * tells that they do not hold. The last row is what 990 rules more cost; the bar is 3 µs.
 */
import { isSmoke } from "./smoke.mjs"
import { median } from "./table.mjs"

export const name = "One decision"
export const reference = "decide, 10 rules"
export const floor = "decide, no rules"

const unit = "µs/decision"
const settleMilliseconds = isSmoke ? 5 : 500
const measureMilliseconds = isSmoke ? 5 : 500
const batch = 6400

export const rows = [
  decideRow({ row: "decide, no rules", count: 0 }),
  decideRow({ row: "decide, 10 rules", count: 10 }),
  decideRow({ row: "decide, 1,000 rules", count: 1000 }),
  {
    row: "1,000 rules more than 10",
    unit: "µs more",
    describe: "The difference, both measured by turns in one process; at most 3.",
    async prepare() {
      this.few = await decisions(10)
      this.many = await decisions(1000)
    },
    async run() {
      settle(this.few)
      settle(this.many)
      const [few, many] = [[], []]
      for (let turn = 0; turn < (isSmoke ? 3 : 21); turn += 1) {
        few.push(timed(this.few))
        many.push(timed(this.many))
      }
      return median(many) - median(few)
    },
  },
]

function decideRow({ row, count }) {
  let decide
  return {
    row,
    unit,
    describe: `PolicySource.decide of 64 calls by turns: 8 tools, 8 agents, with arguments and touches; ${count} rules.`,
    async prepare() {
      decide = await decisions(count)
    },
    async run() {
      settle(decide)
      const figures = []
      for (const end = performance.now() + measureMilliseconds; performance.now() < end;) figures.push(timed(decide))
      return median(figures)
    },
  }
}

/** Makes one batch of decisions each time it is called, and throws when they are not as they were at first. */
async function decisions(count) {
  const { PolicySource } = await import("../build/policy/decide/policy-source.js")
  const { defineTool } = await import("../build/schema/define-tool.js")
  const { z } = await import("zod")
  const rules = Array.from({ length: count }, (_, index) => rule(index))
  const book = new PolicySource({
    rules: () => rules,
    grants: () => [],
    modeOf: () => "ask",
    version: () => 1,
    toolsVersion: () => 1,
    policyVersion: () => "bench",
    tools: {
      canonical: (written) => written,
      inGroups: (tool, groups) => groups === null || groups.includes(tool.group),
    },
  })
  const tools = Array.from({ length: 8 }, (_, index) => registered(defineTool, z, index))
  const agents = Array.from({ length: 8 }, (_, index) => agent(index))
  const calls = tools.flatMap((tool, one) => agents.map((who, other) => facts(tool, who, one * 8 + other)))
  const expected = calls.map((call) => book.decide(call).verdict)
  return () => {
    let wrong = 0
    for (let turn = 0; turn < batch; turn += 1) {
      const index = turn & 63
      // Every call brings touches of its own, as in a real call.
      const call = { ...calls[index], touches: { ...calls[index].touches } }
      if (book.decide(call).verdict !== expected[index]) wrong += 1
    }
    if (wrong > 0) throw new Error(`${wrong} decisions were not as they were at first.`)
  }
}

function settle(decide) {
  for (const end = performance.now() + settleMilliseconds; performance.now() < end;) decide()
}

/** Microseconds per decision. */
function timed(decide) {
  const start = performance.now()
  decide()
  return ((performance.now() - start) * 1000) / batch
}

/** The tenth part of the rules is of each kind. */
function rule(index) {
  const number = Math.floor(index / 10)
  const [verdict, tool, conditions] = [
    ["deny", `other_${number}`, {}],
    ["ask", `group:other_${number}`, {}],
    ["ask", `x${number}_*`, {}],
    ["deny", "*", { role: [`role_${number}`] }],
    ["ask", "*", { agent: [`other_${number}`] }],
    ["deny", "*", { department: [`department_${number}`] }],
    ["deny", `tool_${number % 8}`, { args: { "/path": `secret/${number}` } }],
    ["ask", "*", { args: { "/path": `private/${number}/*` } }],
    ["deny", "*", { touching: [`write:vault/${number}/**`, `host:*.evil-${number}.com`] }],
    ["allow", `tool_${number % 8}`, { touching: [`file:docs/${number}/**`], role: ["developer"] }],
  ][index % 10]
  return { id: `r${index}`, verdict, tool, because: "It is measured.", source: `rule ${index}`, ...conditions }
}

function registered(defineTool, z, index) {
  const tool = defineTool({
    name: `tool_${index}`,
    group: "bench",
    description: "A tool that writes.",
    effect: "write",
    permission: { level: index % 2 === 0 ? "public" : "moderate" },
    input: z.object({ path: z.string() }),
    touches: ({ path }) => [{ kind: "write", what: path }],
    execute: () => undefined,
  })
  const id = `system:${tool.name}@1.0.0`
  return { ...tool, id, type: "custom", layer: "system", enabled: true, definitionHash: "bench" }
}

function agent(index) {
  const made = { createdBy: "bench", madeBy: "configuration", createdAt: "" }
  const role = { id: "developer", name: "developer", rolePrompt: "", status: "active", toolGroups: null, ...made }
  return {
    agent: { id: `agent_${index}`, roleId: role.id, status: "active", ...made },
    role,
    department: "bench",
    level: 0,
    groups: null,
    pins: {},
    ancestors: [],
  }
}

function facts(tool, who, index) {
  const path = ["src/a.ts", `docs/${index}/a.md`, `private/x${index}/a`, `vault/y${index}/a`][index & 3]
  const touches = {
    list: [
      { kind: "write", what: path },
      { kind: "host", what: `www.example-${index}.com` },
    ],
    proved: true,
  }
  const input = { path, mode: "append", count: index }
  return { who, tool, input, touches, limit: { ok: true }, sessionId: "s", workspace: "/work", at: 0 }
}
