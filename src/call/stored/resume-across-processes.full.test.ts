import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { withSecondConnection } from "../../store/testing/test-store.ts"
import { runChild, libraryFile, zodModule } from "../../testing/child-process.ts"
import { openTestApp, temporaryFolder, tool } from "../../testing/test-app.ts"
import { admin, approvePending, changeRow, leaveWaiting, showPending, expectTicket } from "../testing.ts"

/** A process with an app on that folder and a tool that writes its pid. `body` is the code it runs. */
function start(dir: string, body: string) {
  const running = runChild(`
    import { appendFileSync, existsSync, readFileSync } from "node:fs"
    import { createQuartermaster, defineTool } from ${JSON.stringify(libraryFile)}
    import { z } from ${JSON.stringify(zodModule)}
    const say = (...words) => console.log(words.join(" "))
    const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))
    const system = await createQuartermaster({ data: { dir: ${JSON.stringify(dir)} } })
    system.registry.register(defineTool({
      name: "probe", group: "test", description: "A tool of a test.", effect: "none", permission: { level: "sensitive" },
      input: z.object({ n: z.number().default(1), stuck: z.boolean().default(false) }),
      async execute({ stuck }, { callId, signal }) {
        appendFileSync(${JSON.stringify(join(dir, "marks"))}, callId + " " + process.pid + "\\n")
        if (!stuck) return process.pid
        say("running", callId)
        return new Promise(() => signal.addEventListener("abort", () => say("told", signal.reason?.code)))
      },
    }))
    system.on("TOOL_CALL_WAITING", ({ callId }) => say("waiting", callId))
    const ended = ({ callId, code, result }) => say("ended", callId, code ?? result, Date.now())
    ${body}
  `)
  onTestFinished(() => void running.process.kill("SIGKILL"))
  /** The words after that one, of the first line that begins with it. */
  const waitForLine = async (word: string): Promise<string[]> => {
    for (const end = Date.now() + 60_000; Date.now() < end; await seconds(0.005)) {
      const line = running.lines.find((each) => each.startsWith(`${word} `))
      if (line !== undefined) return line.split(" ").slice(1)
    }
    throw new Error(`The process never said '${word}', only: ${running.lines.join("; ")}`)
  }
  const kill = async () => {
    running.process.kill("SIGKILL")
    await running.ended
  }
  return { ...running, waitForLine, kill, pid: String(running.process.pid) }
}

const calling = (input = "{}", agentId = "operator") =>
  `ended(await system.call({ agentId: "${agentId}", tool: "probe", input: ${input} })); await system.close()`

/** Returns the marks the tool left: the id of the call and the pid, once for each run. */
function marks(dir: string): string[][] {
  const file = join(dir, "marks")
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []
  return lines.map((line) => line.split(" "))
}

const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, count * 1000))

test("a live process continues its call after another one answered, even if that one dies at once", async () => {
  const dir = temporaryFolder()
  const owner = start(dir, calling())
  const [callId] = await owner.waitForLine("waiting")
  const answering = `const { ok } = await system.approvals.answer("${callId}", { kind: "approve" }, "ann"); say("answered", ok)
    await pause(60_000)`
  const other = start(dir, answering)
  expect(await other.waitForLine("answered")).toEqual(["true"])
  await other.kill()
  expect((await owner.waitForLine("ended")).slice(0, 2)).toEqual([callId, owner.pid])
  expect(marks(dir)).toEqual([[callId, owner.pid]])
})

test("nothing runs by itself after its process died; the same call in a new process uses the approval, once", async () => {
  const dir = temporaryFolder()
  const owner = start(dir, calling())
  const [callId] = await owner.waitForLine("waiting")
  await owner.kill()
  const system = await openTestApp({ data: { dir } }, { sweepMs: 50 })
  const idle = start(dir, `say("here", "now"); await pause(60_000)`)
  await idle.waitForLine("here")
  const answered = await system.approvals.answer(callId!, { kind: "approve" }, "ann")
  expect(answered).toMatchObject({
    ok: true,
    done: true,
    sentence: expect.stringContaining("make the same call again"),
  })
  await seconds(2)
  expect(marks(dir)).toEqual([])
  const second = start(dir, calling())
  expect((await second.waitForLine("ended")).slice(0, 2)).toEqual([callId, second.pid])
  expect(marks(dir)).toEqual([[callId, second.pid]])
  const third = start(dir, calling())
  const [another] = await third.waitForLine("waiting")
  expect(another).not.toBe(callId)
  expect(marks(dir)).toHaveLength(1)
})

test("a call that had started when its process died is interrupted, and is never run again", async () => {
  const dir = temporaryFolder()
  const owner = start(dir, calling("{ stuck: true }"))
  const [callId] = await owner.waitForLine("waiting")
  const system = await openTestApp({ data: { dir } }, { sweepMs: 0 })
  await approvePending(system, callId!)
  await owner.waitForLine("running")
  expect(await system.approvals.answer(callId!, { kind: "reject" }, "bob")).toMatchObject({ ok: false })
  await owner.kill()
  const again = start(dir, `ended(await system.resume("${callId}")); await system.close()`)
  expect((await again.waitForLine("ended")).slice(0, 2)).toEqual([callId, "interrupted"])
  await again.ended
  expect(await system.resume(callId!)).toMatchObject({ code: "interrupted", metadata: { ran: true } })
  expect((await system.audit.list()).map((row) => [row.callId, row.code])).toEqual([[callId, "interrupted"]])
  const same = start(dir, calling("{ stuck: true }"))
  const [another] = await same.waitForLine("waiting")
  expect(another).not.toBe(callId)
  expect(marks(dir)).toEqual([[callId, owner.pid]])
})

test("of two processes that redeem fifty tickets at the same moment, one runs each", async () => {
  const dir = temporaryFolder()
  const system = await openTestApp({ data: { dir } })
  const input = z.object({ n: z.number().default(1), stuck: z.boolean().default(false) }) as never
  system.registry.register(tool({ input, permission: { level: "sensitive" }, execute: () => 1 }))
  const list = join(dir, "list")
  const racing = `say("here", "now")
    while (!existsSync("${list}")) await pause(5)
    const { at, ids } = JSON.parse(readFileSync("${list}", "utf8"))
    while (Date.now() < at) {}
    for (const result of await Promise.all(ids.map((id) => system.resume(id)))) ended(result)
    say("done", "now")
    await system.close()`
  const racers = [start(dir, racing), start(dir, racing)]
  for (const racer of racers) await racer.waitForLine("here")
  const ids: string[] = []
  for (let n = 0; n < 50; n++) {
    const { callId } = await leaveWaiting(system, { input: { n } })
    await approvePending(system, callId)
    ids.push(callId)
  }
  writeFileSync(list, JSON.stringify({ at: Date.now() + 300, ids }))
  for (const racer of racers) await racer.waitForLine("done")
  const ran = marks(dir)
  expect(ran.map(([callId]) => callId).sort()).toEqual([...ids].sort())
  const results = racers.map(({ lines }) =>
    lines.filter((line) => line.startsWith("ended ")).map((line) => line.split(" ").slice(1, 3)),
  )
  for (const answers of results) expect(answers.sort()).toEqual(ran.sort())
  const shares = racers.map(({ pid }) => ran.filter(([, by]) => by === pid).length)
  console.log(`fifty tickets, two processes: ${shares.join(" and ")} ran in each`)
})

test("a process on another machine lives for twenty seconds after its last beat", async () => {
  const system = await openTestApp({}, { sweepMs: 0 })
  let runs = 0
  const input = z.object({ n: z.number() }) as never
  system.registry.register(tool({ input, permission: { level: "sensitive" }, execute: () => ++runs }))
  const owner = "elsewhere|1||x"
  const beat = (ago: number | undefined) =>
    withSecondConnection(system.dir, (database) => {
      database.prepare("delete from processes where owner = ?").run(owner)
      if (ago !== undefined) database.prepare("insert into processes values (?, ?)").run(owner, Date.now() - ago)
    })
  for (const [n, ago, lives] of [
    [1, 0, true],
    [2, 17_000, true],
    [3, 20_001, false],
    [4, undefined, false],
  ] as const) {
    const { callId } = await leaveWaiting(system, { input: { n } })
    await changeRow(system.dir, callId, () => ({ owner }))
    await beat(ago)
    const { sentence } = await system.approvals.answer(callId, { kind: "approve" }, "ann")
    expect(sentence).toMatch(/^Approved\./)
    const before = runs
    const ended = await system.resume(callId, { waitMs: 400 })
    if (lives) expect(expectTicket(ended).state).toBe("ready")
    else expect(ended).toMatchObject({ callId, success: true })
    expect(runs - before).toBe(lives ? 0 : 1)
    if (!lives) continue
    await beat(20_001)
    expect(await system.resume(callId)).toMatchObject({ callId, success: true })
  }
  expect(runs).toBe(4)
})

test("ending an agent ends its waiting calls and those of its sub-agents, in every process", async () => {
  const dir = temporaryFolder()
  const system = await openTestApp({ data: { dir } }, { sweepMs: 0 })
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => 1 }))
  await system.org.createAgent({ id: "dev", role: "operator" }, admin)
  await system.org.createAgent({ id: "child", role: "operator", parentId: "dev" }, admin)
  const owners = [start(dir, calling("{}", "dev")), start(dir, calling("{}", "child")), start(dir, calling())]
  for (const owner of owners) await owner.waitForLine("waiting")
  const ticket = await leaveWaiting(system, { agentId: "dev", sessionId: "another" })
  const answered = await leaveWaiting(system, { agentId: "child", sessionId: "another" })
  await approvePending(system, answered.callId)
  await system.org.terminateAgent("dev", admin, "Done.")
  for (const owner of owners.slice(0, 2)) expect((await owner.waitForLine("ended"))[1]).toBe("aborted")
  const states = await withSecondConnection(dir, (database) =>
    database.prepare("select state from calls order by created_at").all(),
  )
  expect(states.map((row) => (row as { state: string }).state).sort()).toEqual([
    "ended",
    "ended",
    "ended",
    "ended",
    "waiting",
  ])
  for (const { callId, agentId } of [ticket, answered]) {
    expect(await system.resume(callId)).toMatchObject({
      code: "aborted",
      error: `Agent ${agentId} was ended, and its calls with it.`,
      metadata: { ran: false },
    })
  }
  const left = await system.approvals.list()
  expect(left).toMatchObject([{ agentId: "operator" }])
  await approvePending(system, left[0]!.callId)
  expect((await owners[2]!.waitForLine("ended")).slice(0, 2)).toEqual([left[0]!.callId, owners[2]!.pid])
  expect(marks(dir)).toHaveLength(1)
})

// On a busy machine a process may look late, but not three times.
const within = { retry: 2 }

test(
  "freezing an agent stops within a second what runs for it in another process, and nothing else",
  within,
  async () => {
    const dir = temporaryFolder()
    const system = await openTestApp({ data: { dir } })
    await system.org.createAgent({ id: "dev", role: "operator" }, admin)
    const owners = [start(dir, calling("{ stuck: true }", "dev")), start(dir, calling("{ stuck: true }"))]
    for (const owner of owners) {
      const [callId] = await owner.waitForLine("waiting")
      await approvePending(system, callId!)
      await owner.waitForLine("running")
    }
    const waiting = start(dir, calling("{}", "dev"))
    const [waits] = await waiting.waitForLine("waiting")
    const frozenAt = Date.now()
    await system.freeze({ agentId: "dev", by: "ann", because: "It is too eager." })
    const [callId, code, endedAt] = await owners[0]!.waitForLine("ended")
    expect(code).toBe("frozen")
    expect(await owners[0]!.waitForLine("told")).toEqual(["frozen"])
    console.log(`a frozen agent's call in another process ended after ${Number(endedAt) - frozenAt} ms`)
    await owners[0]!.ended
    expect((await system.audit.show(callId!)).at(-1)).toMatchObject({ kind: "end", code: "frozen", ran: true })
    expect(owners[1]!.lines.some((line) => line.startsWith("told"))).toBe(false)

    expect(await showPending(system, waits!)).toMatchObject({ agentId: "dev", kind: "call" })
    await approvePending(system, waits!)
    expect((await waiting.waitForLine("ended")).slice(0, 2)).toEqual([waits, "frozen"])
    expect(marks(dir)).toHaveLength(2)
  },
)
