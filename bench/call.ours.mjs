// The rows of Quartermaster itself: the whole lifecycle with validation, visibility, decision, permit, time limit and record.
import { inFlight, oneAtATime } from "./measure.mjs"
import { isSmoke } from "./smoke.mjs"

const sumOf = (ended) => ended.result?.sum

/** One governed call, recorded in the given grade. */
async function openApp({ folder, durability, effect, tools = 0, agents = 0, dist = "../dist/index.js" }) {
  const { createQuartermaster, defineTool } = await import(dist)
  const { z } = await import("zod")
  const system = await createQuartermaster({
    data: { dir: `${folder}/data`, durability },
    tools: { maxConcurrent: 64 },
    agents: { maxConcurrentTools: 64 },
    org: {
      roles: [{ name: "worker", toolGroups: ["bench"] }],
      agents: [
        { id: "worker", role: "worker" },
        ...Array.from({ length: agents }, (_, index) => ({ id: `agent-${index}`, role: "worker" })),
      ],
    },
  })
  const add = (name, group) =>
    system.registry.register(
      defineTool({
        name,
        group,
        description: "Adds two numbers.",
        effect,
        permission: { level: "public" },
        input: z.object({ a: z.number(), b: z.number() }),
        execute: async ({ a, b }) => ({ sum: a + b }),
      }),
    )
  add("add", "bench")
  for (let index = 0; index < 9; index++) add(`bench_${index}`, "bench")
  for (let index = 0; index < tools; index++) add(`other_${index}`, `other_${index % 100}`)
  return system
}

export function callRow({
  row,
  durability = "crash",
  effect = "none",
  together,
  queryable = false,
  reference,
  ...more
}) {
  let system
  const call = (input) => system.call({ agentId: "worker", tool: "add", input })
  return {
    row,
    unit: "µs/call",
    describe: "Visible, validated, decided, permit, time limit, start and end kept; see the name for grade and effect.",
    reference,
    async prepare({ folder }) {
      system = await openApp({ folder, durability, effect, ...more })
    },
    run: queryable
      ? () => inFlight(together, call, sumOf, () => system.settle())
      : () => (together === undefined ? oneAtATime(call, sumOf) : inFlight(together, call, sumOf)),
    close: () => system.close(),
  }
}

const plenty = isSmoke ? 100 : 10_000
const many = { together: 64, reference: "LangChain invoke, 64 in flight" }

/** The list an agent with ten visible tools is given, made anew each time. */
function listRow({ row, ...more }) {
  let system
  return {
    row,
    unit: "µs/list",
    describe: "toolsFor(agent) of an agent that sees ten tools.",
    reference: "Quartermaster list, 10 tools and 10 agents",
    async prepare({ folder }) {
      system = await openApp({ folder, durability: "crash", effect: "none", ...more })
    },
    run: () =>
      oneAtATime(
        async ({ a, b }) => (system.toolsFor("worker", { format: "openai" }).length === 10 ? { sum: a + b } : {}),
        (result) => result.sum,
      ),
    close: () => system.close(),
  }
}

export const rows = [
  callRow({ row: "Quartermaster crash" }),
  callRow({ row: "Quartermaster crash, write", effect: "write" }),
  callRow({ row: "Quartermaster crash, 64 in flight", ...many }),
  callRow({ row: "Quartermaster crash, write, 64 in flight", effect: "write", ...many }),
  callRow({ row: "Quartermaster crash, 64 in flight, queryable", ...many, queryable: true }),
  callRow({
    row: "Quartermaster power, read",
    durability: "power",
    effect: "read",
    reference: "append + fdatasyncSync",
  }),
  callRow({
    row: "Quartermaster power, write",
    durability: "power",
    effect: "write",
    reference: "append + fdatasyncSync",
  }),
  callRow({ row: "Quartermaster power, read, 64 in flight", durability: "power", effect: "read", ...many }),
  callRow({ row: "Quartermaster power, write, 64 in flight", durability: "power", effect: "write", ...many }),
  callRow({ row: "Quartermaster crash, 10,000 tools", tools: plenty, reference: "Quartermaster crash" }),
  callRow({ row: "Quartermaster crash, 10,000 agents", agents: plenty, reference: "Quartermaster crash" }),
  listRow({ row: "Quartermaster list, 10 tools and 10 agents", agents: 10 }),
  listRow({ row: "Quartermaster list, 10,000 tools", tools: plenty }),
  listRow({ row: "Quartermaster list, 10,000 agents", agents: plenty }),
]
