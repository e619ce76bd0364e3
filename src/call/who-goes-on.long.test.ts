import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { goAround } from "../store/testing.ts"
import { child, library, zod } from "../testing/children.ts"
import { open, temporaryFolder, tool } from "../testing/open.ts"
import { admin, approve, changeRow, leave, onDesk, ticketOf } from "./testing.ts"

/** A process with a house on that folder and a tool that leaves a mark with its pid. `body` says what it does there. */
function start(dir: string, body: string) {
  const running = child(`
    import { appendFileSync, existsSync, readFileSync } from "node:fs"
    import { createQuartermaster, defineTool } from ${JSON.stringify(library)}
    import { z } from ${JSON.stringify(zod)}
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
  const heard = async (word: string): Promise<string[]> => {
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
  return { ...running, heard, kill, pid: String(running.process.pid) }
}

const calling = (input = "{}", agentId = "operator") =>
  `ended(await system.call({ agentId: "${agentId}", tool: "probe", input: ${input} })); await system.close()`

/** What the tool left: the id of the call and the pid, once for each run. */
function marks(dir: string): string[][] {
  const file = join(dir, "marks")
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []
  return lines.map((line) => line.split(" "))
}

const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, count * 1000))

test("a live process goes on with its call after another one answered, even if that one dies at once", async () => {
  const dir = temporaryFolder()
  const owner = start(dir, calling())
  const [callId] = await owner.heard("waiting")
  const answering = `const { ok } = await system.desk.say("${callId}", { say: "approve" }, "ann"); say("answered", ok)
    await pause(60_000)`
  const other = start(dir, answering)
  expect(await other.heard("answered")).toEqual(["true"])
  await other.kill()
  expect((await owner.heard("ended")).slice(0, 2)).toEqual([callId, owner.pid])
  expect(marks(dir)).toEqual([[callId, owner.pid]])
})

test("nothing runs by itself after its process died; the same call in a new process uses the yes, once", async () => {
  const dir = temporaryFolder()
  const owner = start(dir, calling())
  const [callId] = await owner.heard("waiting")
  await owner.kill()
  const system = await open({ data: { dir } }, { sweepMs: 50 })
  const idle = start(dir, `say("here", "now"); await pause(60_000)`)
  await idle.heard("here")
  const heard = await system.desk.say(callId!, { say: "approve" }, "ann")
  expect(heard).toMatchObject({ ok: true, done: true, sentence: expect.stringContaining("make the same call again") })
  await seconds(2)
  expect(marks(dir)).toEqual([])
  const second = start(dir, calling())
  expect((await second.heard("ended")).slice(0, 2)).toEqual([callId, second.pid])
  expect(marks(dir)).toEqual([[callId, second.pid]])
  const third = start(dir, calling())
  const [another] = await third.heard("waiting")
  expect(another).not.toBe(callId)
  expect(marks(dir)).toHaveLength(1)
})

test("a call that had started when its process died is interrupted, and is never run again", async () => {
  const dir = temporaryFolder()
  const owner = start(dir, calling("{ stuck: true }"))
  const [callId] = await owner.heard("waiting")
  const system = await open({ data: { dir } }, { sweepMs: 0 })
  await approve(system, callId!)
  await owner.heard("running")
  expect(await system.desk.say(callId!, { say: "reject" }, "bob")).toMatchObject({ ok: false })
  await owner.kill()
  const again = start(dir, `ended(await system.resume("${callId}")); await system.close()`)
  expect((await again.heard("ended")).slice(0, 2)).toEqual([callId, "interrupted"])
  await again.ended
  expect(await system.resume(callId!)).toMatchObject({ code: "interrupted", metadata: { ran: true } })
  expect((await system.audit.list()).map((row) => [row.callId, row.code])).toEqual([[callId, "interrupted"]])
  const same = start(dir, calling("{ stuck: true }"))
  const [another] = await same.heard("waiting")
  expect(another).not.toBe(callId)
  expect(marks(dir)).toEqual([[callId, owner.pid]])
})

test("of two processes that redeem fifty tickets at the same moment, one runs each", async () => {
  const dir = temporaryFolder()
  const system = await open({ data: { dir } })
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
  for (const racer of racers) await racer.heard("here")
  const ids: string[] = []
  for (let n = 0; n < 50; n++) {
    const { callId } = await leave(system, { input: { n } })
    await approve(system, callId)
    ids.push(callId)
  }
  writeFileSync(list, JSON.stringify({ at: Date.now() + 300, ids }))
  for (const racer of racers) await racer.heard("done")
  const ran = marks(dir)
  expect(ran.map(([callId]) => callId).sort()).toEqual([...ids].sort())
  const told = racers.map(({ lines }) =>
    lines.filter((line) => line.startsWith("ended ")).map((line) => line.split(" ").slice(1, 3)),
  )
  for (const answers of told) expect(answers.sort()).toEqual(ran.sort())
  const shares = racers.map(({ pid }) => ran.filter(([, by]) => by === pid).length)
  console.log(`fifty tickets, two processes: ${shares.join(" and ")} ran in each`)
})

test("a process on another machine lives for twenty seconds after its last beat", async () => {
  const system = await open({}, { sweepMs: 0 })
  let runs = 0
  const input = z.object({ n: z.number() }) as never
  system.registry.register(tool({ input, permission: { level: "sensitive" }, execute: () => ++runs }))
  const owner = "elsewhere|1||x"
  const beat = (ago: number | undefined) =>
    goAround(system.dir, (database) => {
      database.prepare("delete from processes where owner = ?").run(owner)
      if (ago !== undefined) database.prepare("insert into processes values (?, ?)").run(owner, Date.now() - ago)
    })
  for (const [n, ago, lives] of [
    [1, 0, true],
    [2, 17_000, true],
    [3, 20_001, false],
    [4, undefined, false],
  ] as const) {
    const { callId } = await leave(system, { input: { n } })
    await changeRow(system.dir, callId, () => ({ owner }))
    await beat(ago)
    const { sentence } = await system.desk.say(callId, { say: "approve" }, "ann")
    expect(sentence).toBe("Answered.")
    const before = runs
    const ended = await system.resume(callId, { waitMs: 400 })
    if (lives) expect(ticketOf(ended).state).toBe("ready")
    else expect(ended).toMatchObject({ callId, success: true })
    expect(runs - before).toBe(lives ? 0 : 1)
    if (!lives) continue
    await beat(20_001)
    expect(await system.resume(callId)).toMatchObject({ callId, success: true })
  }
  expect(runs).toBe(4)
})

test("ending an agent ends what waits for it and for those below it, in whatever process", async () => {
  const dir = temporaryFolder()
  const system = await open({ data: { dir } }, { sweepMs: 0 })
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => 1 }))
  await system.org.createAgent({ id: "dev", role: "operator" }, admin)
  await system.org.createAgent({ id: "child", role: "operator", parentId: "dev" }, admin)
  const owners = [start(dir, calling("{}", "dev")), start(dir, calling("{}", "child")), start(dir, calling())]
  for (const owner of owners) await owner.heard("waiting")
  const ticket = await leave(system, { agentId: "dev", sessionId: "another" })
  const answered = await leave(system, { agentId: "child", sessionId: "another" })
  await approve(system, answered.callId)
  await system.org.terminateAgent("dev", admin, "Done.")
  for (const owner of owners.slice(0, 2)) expect((await owner.heard("ended"))[1]).toBe("aborted")
  const states = await goAround(dir, (database) =>
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
  const left = await system.desk.list()
  expect(left).toMatchObject([{ agentId: "operator" }])
  await approve(system, left[0]!.callId)
  expect((await owners[2]!.heard("ended")).slice(0, 2)).toEqual([left[0]!.callId, owners[2]!.pid])
  expect(marks(dir)).toHaveLength(1)
})

// Where the machine is busy with something else, a process may come to look late, but not three times.
const within = { retry: 2 }

test(
  "freezing an agent stops within a second what runs for it in another process, and nothing else",
  within,
  async () => {
    const dir = temporaryFolder()
    const system = await open({ data: { dir } })
    await system.org.createAgent({ id: "dev", role: "operator" }, admin)
    const owners = [start(dir, calling("{ stuck: true }", "dev")), start(dir, calling("{ stuck: true }"))]
    for (const owner of owners) {
      const [callId] = await owner.heard("waiting")
      await approve(system, callId!)
      await owner.heard("running")
    }
    const waiting = start(dir, calling("{}", "dev"))
    const [waits] = await waiting.heard("waiting")
    const frozenAt = Date.now()
    await system.freeze({ agentId: "dev", by: "ann", because: "It is too eager." })
    const [callId, code, endedAt] = await owners[0]!.heard("ended")
    expect(code).toBe("frozen")
    expect(await owners[0]!.heard("told")).toEqual(["frozen"])
    console.log(`a frozen agent's call in another process ended after ${Number(endedAt) - frozenAt} ms`)
    expect(Number(endedAt) - frozenAt).toBeLessThan(1000)
    await owners[0]!.ended
    expect((await system.audit.show(callId!)).at(-1)).toMatchObject({ kind: "end", code: "frozen", ran: true })
    expect(owners[1]!.lines.some((line) => line.startsWith("told"))).toBe(false)

    expect(await onDesk(system, waits!)).toMatchObject({ agentId: "dev", kind: "call" })
    await approve(system, waits!)
    expect((await waiting.heard("ended")).slice(0, 2)).toEqual([waits, "frozen"])
    expect(marks(dir)).toHaveLength(2)
  },
)
