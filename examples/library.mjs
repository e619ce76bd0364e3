// Ten lines of governed tools: define one, call it as an agent, read what was written down.
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

// What a provider is sent for this agent, and a call of its model.
const tools = quartermaster.toolsFor("operator", { format: "openai" })
assert.ok(tools.some((tool) => tool.function.name === "add"))

const good = await quartermaster.call({ agentId: "operator", tool: "add", input: { a: 2, b: 3 } })
assert.deepEqual(good.result, { sum: 5 })

const bad = await quartermaster.call({ agentId: "operator", tool: "add", input: { a: "2" } })
assert.equal(bad.code, "invalid_arguments")
console.log(modelText(bad))

const hidden = await quartermaster.call({ agentId: "root", tool: "add", input: { a: 2, b: 3 } })
assert.equal(hidden.code, "tool_not_available")

await quartermaster.settle()
const story = await quartermaster.audit.list()
console.table(story.map(({ tool, agentId, status, code, durationMs }) => ({ tool, agentId, status, code, durationMs })))
assert.equal(story.length, 3)
assert.deepEqual(await quartermaster.audit.verify(), { ok: true, records: 5, chains: 1 })

await quartermaster.close()
rmSync(dir, { recursive: true })
