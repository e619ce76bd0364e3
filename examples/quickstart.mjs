// Define a tool, call it as an agent, read the audit log.
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createQuartermaster, defineTool, modelText } from "quartermaster"
import { z } from "zod"

const dir = mkdtempSync(join(tmpdir(), "quartermaster-"))
const quartermaster = await createQuartermaster({ data: { dir } })

quartermaster.registry.register(
  defineTool({
    name: "add",
    group: "maths",
    description: "Add two numbers.",
    effect: "none",
    input: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => ({ sum: a + b }),
  }),
)

// What to send to the model provider: the tools this agent may see, narrowed to one group.
const tools = quartermaster.toolsFor("operator", { format: "openai", groups: ["maths"] })
assert.deepEqual(
  tools.map((tool) => tool.function.name),
  ["add"],
)

const good = await quartermaster.call({ agentId: "operator", tool: "add", input: { a: 2, b: 3 } })
assert.deepEqual(good.result, { sum: 5 })

const bad = await quartermaster.call({ agentId: "operator", tool: "add", input: { a: "2" } })
assert.equal(bad.code, "invalid_arguments")
console.log(modelText(bad))

const hidden = await quartermaster.call({ agentId: "root", tool: "add", input: { a: 2, b: 3 } })
assert.equal(hidden.code, "tool_not_available")

await quartermaster.settle()
const entries = await quartermaster.audit.list()
console.table(
  entries.map(({ tool, agentId, status, code, durationMs }) => ({ tool, agentId, status, code, durationMs })),
)
assert.equal(entries.length, 3)
assert.deepEqual(await quartermaster.audit.verify(), { ok: true, records: 5, chains: 1 })

await quartermaster.close()
rmSync(dir, { recursive: true })
