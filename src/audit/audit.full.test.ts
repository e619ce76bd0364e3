import { expect, test } from "vitest"
import { runChild, libraryFile } from "../testing/child-process.ts"
import { openTestApp, temporaryFolder, until } from "../testing/test-app.ts"

test("ten apps that open a new folder at once share one database and one key", async () => {
  const dir = temporaryFolder()
  const systems = await Promise.all(
    Array.from({ length: 10 }, () => openTestApp({ data: { dir } }, { writes: "direct" })),
  )
  await Promise.all(systems.map((system) => system.call({ agentId: "operator", tool: "current_time", input: {} })))
  expect(await systems[0]!.audit.verify()).toMatchObject({ ok: true, records: 20 })
})

test("a call whose process wrote directly and was killed is shown as interrupted, once", async () => {
  const dir = temporaryFolder()
  const {
    process: running,
    lines,
    ended,
  } = runChild(`
    import { createQuartermaster } from ${JSON.stringify(libraryFile)}
    const system = await createQuartermaster({ data: { dir: ${JSON.stringify(dir)} } }, { writes: "direct" })
    system.on("TOOL_CALL_REQUESTED", ({ callId }) => console.log(callId))
    await system.call({ agentId: "operator", tool: "sleep", input: { duration: 20 } })
  `)
  await until(() => lines.length > 0, "the tool runs")
  const system = await openTestApp({ data: { dir } })
  expect(await system.audit.list()).toEqual([])
  running.kill("SIGKILL")
  await ended
  for (let look = 0; look < 2; look++) {
    expect(await system.audit.list()).toMatchObject([{ callId: lines[0], code: "interrupted", tool: "sleep" }])
  }
  expect(await system.audit.verify()).toMatchObject({ ok: true })
})
