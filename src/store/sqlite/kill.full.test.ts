import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { runChild, libraryFile, zodModule } from "../../testing/child-process.ts"
import { openTestApp, temporaryFolder, tool } from "../../testing/test-app.ts"
import { times } from "../../testing/times.ts"

/** Makes calls without end and prints each acknowledged one. The tool writes a synced mark per run. */
const caller = (dir: string, durability: string) => `
  import { writeSync, openSync, fdatasyncSync } from "node:fs"
  import { createQuartermaster, defineTool } from ${JSON.stringify(libraryFile)}
  import { z } from ${JSON.stringify(zodModule)}
  const marks = openSync(${JSON.stringify(join(dir, "marks"))}, "a")
  const system = await createQuartermaster({ data: { dir: ${JSON.stringify(dir)}, durability: ${JSON.stringify(durability)} } })
  system.registry.register(defineTool({
    name: "mark", group: "data", description: "Leaves a mark.", effect: "write", permission: { level: "public" }, input: z.object({}),
    async execute(_input, { callId }) {
      writeSync(marks, callId + "\\n")
      if (Math.random() < 0.2) await new Promise((resolve) => setTimeout(resolve, 3))
      return callId
    },
  }))
  const lane = async () => {
    for (;;) {
      const result = await system.call({ agentId: "operator", tool: "mark", input: {} })
      if (!result.success) throw new Error(JSON.stringify(result))
      writeSync(1, result.callId + "\\n")
    }
  }
  await Promise.all(Array.from({ length: 8 }, lane))
`

test.each(["crash", "power"])(
  "kill -9 at any moment loses nothing acknowledged, in the grade %s",
  async (durability) => {
    const dir = temporaryFolder()
    const acknowledged: string[] = []
    for (let round = 0; round < times(2, 10); round++) {
      const { process: running, lines, ended } = runChild(caller(dir, durability))
      while (lines.length < 20) await new Promise((resolve) => setTimeout(resolve, 5))
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 300))
      running.kill("SIGKILL")
      await ended
      acknowledged.push(...lines)
    }
    const system = await openTestApp({ data: { dir } }, { writes: "direct" })
    const rows = await system.audit.list({ limit: 10_000_000 })
    const status = new Map(rows.map((row) => [row.callId, row.status]))
    expect(rows).toHaveLength(status.size)
    expect(acknowledged.filter((callId) => status.get(callId) !== "success")).toEqual([])
    const marks = readFileSync(join(dir, "marks"), "utf8").split("\n").filter(Boolean)
    expect(new Set(marks).size).toBe(marks.length)
    expect(marks.filter((callId) => !status.has(callId))).toEqual([])
    const interrupted = rows.filter((row) => row.code === "interrupted")
    expect(rows.length - interrupted.length).toBeGreaterThanOrEqual(acknowledged.length)
    expect(await system.audit.verify()).toMatchObject({ ok: true })
    expect(existsSync(join(dir, "journal"))).toBe(true)
  },
)

test("a waiting call survives kill -9 and is answered and resumed by another process", async () => {
  const dir = temporaryFolder()
  const {
    process: running,
    lines,
    ended,
  } = runChild(`
    import { createQuartermaster } from ${JSON.stringify(libraryFile)}
    const system = await createQuartermaster({ data: { dir: ${JSON.stringify(dir)} } })
    system.on("TOOL_CALL_WAITING", (event) => console.log(event.callId))
    await system.call({ agentId: "operator", tool: "set_env", input: { key: "A", value: "1" } })
  `)
  while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  running.kill("SIGKILL")
  await ended
  const system = await openTestApp({ data: { dir } })
  const [waiting] = await system.approvals.list()
  expect(waiting).toMatchObject({ callId: lines[0], kind: "call", tool: "set_env" })
  expect(await system.approvals.answer(waiting!.callId, { kind: "approve" }, "ann")).toMatchObject({ ok: true })
  expect(await system.resume(waiting!.callId)).toMatchObject({ success: true, result: { previous: null } })
})

test("a keyed call whose process was killed ends once, as interrupted, and is not run again", async () => {
  const dir = temporaryFolder()
  const {
    process: running,
    lines,
    ended,
  } = runChild(`
    import { createQuartermaster, defineTool } from ${JSON.stringify(libraryFile)}
    import { z } from ${JSON.stringify(zodModule)}
    const system = await createQuartermaster({ data: { dir: ${JSON.stringify(dir)} } })
    system.registry.register(defineTool({
      name: "stuck", group: "data", description: "Never ends.", effect: "none", input: z.object({}),
      execute: () => { console.log("running"); return new Promise(() => {}) },
    }))
    await system.call({ agentId: "operator", tool: "stuck", input: {}, key: "once" })
  `)
  while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  running.kill("SIGKILL")
  await ended
  const system = await openTestApp({ data: { dir } })
  let runs = 0
  system.registry.register(tool({ name: "stuck", execute: () => ++runs }))
  const again = await system.call({ agentId: "operator", tool: "stuck", input: {}, key: "once" })
  expect(again).toMatchObject({ code: "interrupted" })
  expect(runs).toBe(0)
  expect(await system.audit.list()).toMatchObject([{ callId: again.callId, code: "interrupted" }])
  expect(await system.audit.verify()).toMatchObject({ ok: true })
})
