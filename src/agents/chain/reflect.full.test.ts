import { join } from "node:path"
import { expect, test } from "vitest"
import { libraryFile, runChild, zodModule } from "../../testing/child-process.ts"
import { openTestApp, temporaryFolder, tool, until } from "../../testing/test-app.ts"
import { times } from "../../testing/times.ts"
import { modelOf, type PlayedTurn } from "../testing/played-model.ts"

const config = { approvals: { unattended: "reject" as const } }
const first: PlayedTurn = { calls: [{ name: "pay", id: "1" }] }

/** A program whose model calls `pay`, which is refused. It hangs where the test wants to kill it. */
const program = (dir: string, hang: string) => `
import { createQuartermaster, defineTool, ruleReflector } from ${JSON.stringify(libraryFile)}
import { z } from ${JSON.stringify(zodModule)}
const hang = async (at) => { if (at === ${JSON.stringify(hang)}) { console.log("here"); await new Promise(() => {}) } }
let round = 0
const model = {
  name: "played", provider: "played", modelId: "played",
  async *stream() {
    if (round++ > 0) await hang("asking again")
    yield { type: "tool-call", id: "1", name: "pay", input: "{}" }
    yield { type: "finish", reason: "stop" }
  },
}
const app = await createQuartermaster(
  { ...${JSON.stringify(config)}, data: { dir: ${JSON.stringify(join(dir, "data"))} } },
  { models: { played: model }, print: () => {}, home: ${JSON.stringify(dir)} },
)
app.registry.register(defineTool({
  name: "pay", group: "test", description: "A tool of a test.", effect: "communicate",
  permission: { level: "sensitive" }, input: z.object({}), execute: () => "paid",
}))
const reflect = { reflect: async (input) => (await hang("reflecting"), ruleReflector.reflect(input)) }
await app.chain("operator", { id: "talk", reflect }).run("Pay.")
`

async function openHost(dir: string, model: ReturnType<typeof modelOf>) {
  const app = await openTestApp({ ...config, data: { dir } }, { models: { played: model }, print: () => {} })
  const permission = { level: "sensitive" } as const
  app.registry.register(tool({ name: "pay", effect: "communicate", permission, execute: () => "paid" }))
  return app
}

test.each(["reflecting", "asking again"])("kill -9 while %s: the next request is the same", async (hang) => {
  const whole = modelOf(first, { say: "Well." })
  await (await openHost(join(temporaryFolder(), "data"), whole)).chain("operator").run("Pay.")
  for (let run = 0; run < times(3, 30); run++) {
    const dir = temporaryFolder()
    const child = runChild(program(dir, hang))
    await until(() => child.lines.includes("here"), "the child is there")
    child.process.kill("SIGKILL")
    await child.ended
    const model = modelOf({ say: "Well." })
    const app = await openHost(join(dir, "data"), model)
    expect(await app.chain("operator", { id: "talk" }).resume()).toMatchObject({ status: "completed" })
    const [resumed] = model.requests
    expect(resumed!.messages).toEqual(whole.requests[1]!.messages)
    expect(resumed!.tools).toEqual(whole.requests[1]!.tools)
    expect(resumed!.tools!.map(({ name }) => name)).not.toContain("pay")
  }
})
