// A tool written as a class with a parameter list, and a tool that streams its output.
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { BaseTool, createQuartermaster, defineTool } from "quartermaster"

class CustomAPITool extends BaseTool {
  name = "custom_api_call"
  description = "Call an API."
  parameters = [
    { name: "endpoint", type: "string", description: "Where to", required: true },
    { name: "method", type: "string", description: "How", required: false, enum: ["GET", "POST"], default: "GET" },
  ]
  // Written here, it lets the tool run unasked. Without it, or an effect, a person is asked before every call.
  dangerous = false

  async execute({ endpoint, method }) {
    return { success: true, data: `${method} ${endpoint}` }
  }
}

const dir = mkdtempSync(join(tmpdir(), "quartermaster-"))
const quartermaster = await createQuartermaster({ data: { dir } })
quartermaster.registry.register(new CustomAPITool(), { group: "api" })
quartermaster.registry.register(
  defineTool({
    name: "count",
    group: "demo",
    description: "Count to three, one number at a time.",
    effect: "none",
    input: { type: "object", properties: {} },
    async *execute() {
      for (const number of ["one\n", "two\n", "three\n"]) yield number
    },
  }),
)

const executor = quartermaster.executor("operator")
const [called, wrong] = await executor.executeMany([
  { name: "custom_api_call", arguments: { endpoint: "/v1" } },
  { name: "custom_api_call", arguments: { method: "PUT" } },
])
assert.equal(called.result, "GET /v1")
console.log(wrong.error)
assert.match(wrong.error, /Missing required parameter: endpoint.*must be one of: GET, POST/)

quartermaster.on("TOOL_CALL_OUTPUT", ({ chunk }) => process.stdout.write(chunk))
assert.equal((await executor.execute("count", {})).result, "one\ntwo\nthree\n")

await quartermaster.close()
rmSync(dir, { recursive: true })
