import { Audit } from "../../audit/audit.ts"
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { createApp } from "../../app/create-app.ts"
import { readSetup } from "../../app/setup.ts"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { callbackAdapter } from "../../approvals/ask/callback.ts"
import { StoreUnavailable } from "../../core/ending.ts"
import { silentLogger } from "../../core/logger.ts"
import type { CallStore, Recorder } from "../port.ts"
import type { ToolResult } from "../../core/result.ts"
import type { ToolContext } from "../../core/tool.ts"
import { runChild, libraryFile, zodModule } from "../../testing/child-process.ts"
import { openTestApp, temporaryFolder, tool, until } from "../../testing/test-app.ts"
import { newOwnerName } from "./owner.ts"
import { openStore } from "./store.ts"

/** A small disk in memory. */
function smallDisk(size: string, skip: (note: string) => never): { dir: string; remount(options: string): void } {
  const dir = mkdtempSync(join(tmpdir(), "qm-disk-"))
  const run = (command: string, ...words: string[]) => execFileSync(command, words, { stdio: "pipe" })
  try {
    run("mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", dir)
  } catch (error) {
    rmdirSync(dir)
    const note = `A small disk cannot be mounted here (${String(error)}). Run this test as root.`
    if (process.env["CI"]) throw new Error(note, { cause: error })
    skip(note)
  }
  onTestFinished(() => {
    run("umount", "-l", dir)
    rmdirSync(dir)
  })
  return { dir, remount: (options) => void run("mount", "-o", `remount,${options}`, dir) }
}

const ways = [
  { durability: "crash", writes: "journal" },
  { durability: "power", writes: "journal" },
  { durability: "crash", writes: "direct" },
] as const

test.for(ways)(
  "a full disk refuses calls with a sentence, runs nothing unrecorded, breaks nothing, and goes on once there is room: %o",
  async ({ durability, writes }, { skip }) => {
    const { dir, remount } = smallDisk("2m", skip)
    const ran: string[] = []
    const openApp = async () => {
      const system = await openTestApp({ data: { dir, durability } }, { writes, sweepMs: 0 })
      const execute = ({ text }: { text: string }, { callId }: ToolContext) => {
        ran.push(callId)
        return text
      }
      system.registry.register(tool({ effect: "write", permission: { level: "public" }, input: z.object({ text: z.string() }) as never, execute })) // prettier-ignore
      return system
    }
    const system = await openApp()
    const results: ToolResult[] = []
    const some = async (count: number) => {
      const calls = Array.from({ length: count }, () => ({
        agentId: "operator",
        tool: "probe",
        input: { text: "x".repeat(1500) },
      }))
      results.push(...(await system.callMany(calls)))
    }
    const refused = () => results.filter((result) => result.code === "record_unavailable")
    while (refused().length < 60 && results.length < 20_000) await some(20)
    expect(refused().length).toBeGreaterThanOrEqual(60)
    expect(results.every((result) => result.success || result.code === "record_unavailable")).toBe(true)
    for (const { error, result } of refused()) {
      expect(error).toMatch(/ENOSPC|full|cannot be written/)
      expect(error).toMatch(/Free some space/)
      expect(error).toMatch(/\.$/)
      expect(result).toBeUndefined()
    }

    remount("size=200m")
    const before = results.length
    await until(async () => {
      await some(1)
      return results.at(-1)!.success
    }, "a call succeeds again")
    expect(results.length - before).toBeLessThan(500)
    await system.close()

    const again = await openApp()
    expect(await again.audit.verify()).toMatchObject({ ok: true })
    const kept = new Map((await again.audit.list({ limit: 1_000_000 })).map((row) => [row.callId, row]))
    const succeeded = results.filter((result) => result.success).map((result) => result.callId)
    expect(succeeded.length).toBeGreaterThan(5)
    expect(succeeded.filter((callId) => kept.get(callId)?.status !== "success")).toEqual([])
    for (const callId of new Set(ran))
      expect((await again.audit.show(callId))[0]).toMatchObject({ kind: "start", callId })
    expect(new Set(ran).size).toBe(ran.length)
  },
)

test.for(["journal", "direct"] as const)(
  "a store that can only be read is refused with a sentence and stays as it was, written by %s",
  async (writes, { skip }) => {
    const { dir, remount } = smallDisk("20m", skip)
    // In a child process, because a disk with an open file cannot be made read-only.
    const { lines, ended } = runChild(`
      import { createQuartermaster } from ${JSON.stringify(libraryFile)}
      const system = await createQuartermaster({ data: { dir: ${JSON.stringify(dir)} } }, { writes: ${JSON.stringify(writes)} })
      for (let call = 0; call < 3; call++) await system.call({ agentId: "operator", tool: "current_time", input: {} })
      console.log(await system.audit.head())
      await system.close()
    `)
    expect(await ended).toBe(0)
    const head = lines[0]!
    remount("ro")
    const opening = openTestApp({ data: { dir } }, { writes })
    await expect(opening).rejects.toThrow(StoreUnavailable)
    await expect(opening).rejects.toThrow(/read-only|EROFS/)
    remount("rw")
    const again = await openTestApp({ data: { dir } }, { writes })
    expect(await again.audit.verify(head)).toMatchObject({ ok: true, records: writes === "direct" ? 6 : 7 })
  },
)

/** Counts everything a call writes, and fails one of the writes. */
function failingAt(recorder: Recorder, calls: CallStore) {
  const counter = { writes: 0, failAt: 0 }
  const starts = new Set<string>()
  const ends = new Set<string>()
  const write = async <T>(work: () => Promise<T>): Promise<T> => {
    if (++counter.writes === counter.failAt)
      throw new StoreUnavailable("The store cannot be used (no space left on device).")
    return work()
  }
  const failing: Recorder = {
    write: (entry, grade) =>
      write(async () => {
        await recorder.write(entry, grade)
        if (entry.kind === "start") starts.add(entry.callId)
        if (entry.kind === "end") ends.add(entry.callId)
      }),
    queue: (start, written) => failing.write(start, "crash").then(written),
    flush: () => recorder.flush(),
    settle: () => recorder.settle(),
    close: () => recorder.close(),
  }
  const writers: ReadonlySet<PropertyKey> = new Set([
    "insert",
    "swap",
    "recordAnswer",
    "erase",
  ] satisfies (keyof CallStore)[])
  const failingCalls = new Proxy(calls, {
    get(target, name) {
      const member = target[name as keyof CallStore] as (...values: unknown[]) => Promise<unknown>
      if (typeof member !== "function") return member
      const bound = (...values: unknown[]) => member.apply(target, values)
      return writers.has(name) ? (...values: unknown[]) => write(() => bound(...values)) : bound
    },
  })
  return { counter, starts, ends, recorder: failing, calls: failingCalls }
}

/** Makes one call of every kind, one after the other. */
const script = ["plain", "asked", "plain", "held", "fails", "keyed", "keyed", "plain"]

async function runScript(failAt: number) {
  const owner = newOwnerName()
  const dir = temporaryFolder()
  const store = await openStore({ dataDir: dir, owner, logger: silentLogger, writes: "direct" })
  const port = failingAt(store.recorder, await store.calls())
  const approvals = callbackAdapter({ onExecution: () => true, onResult: () => true })
  const options = { sweepMs: 0, approvals }
  const over = { ...store, recorder: port.recorder, calls: () => Promise.resolve(port.calls) }
  const system = await createApp({ ...readSetup({ data: { dir } }, options), owner }, over as never)
  const ran: { callId: string; recorded: boolean }[] = []
  const execute = (_input: unknown, { callId }: ToolContext) => {
    ran.push({ callId, recorded: port.starts.has(callId) })
    return "done"
  }
  const open = { permission: { level: "public" as const } }
  system.registry.register(tool({ name: "plain", ...open, execute }))
  system.registry.register(tool({ name: "keyed", ...open, execute }))
  system.registry.register(tool({ name: "asked", effect: "write", execute }))
  system.registry.register(
    tool({ name: "held", permission: { level: "public", requireResultApproval: "always" }, execute }),
  )
  system.registry.register(tool({ name: "fails", ...open, execute: (input, context: ToolContext) => { execute(input, context); throw new Error("It broke.") } })) // prettier-ignore
  port.counter.failAt = failAt
  const results: ToolResult[] = []
  for (const [index, name] of script.entries()) {
    const key = name === "keyed" ? `k${index}` : undefined
    results.push(await answered(system, system.call({ agentId: "operator", tool: name, input: {}, key })))
  }
  const { writes } = port.counter
  port.counter.failAt = 0
  const after = await system.call({ agentId: "operator", tool: "plain", input: {} })
  return { system, store, port, ran, results, writes, after }
}

/** An answer that could not be written does not count: the call still waits, and is answered again. */
async function answered(system: Quartermaster, call: Promise<ToolResult>): Promise<ToolResult> {
  const state = { ended: false }
  const settled = call.finally(() => (state.ended = true))
  for (let looks = 0; !state.ended; looks++) {
    await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, 300))])
    if (state.ended || looks === 0) continue
    for (const { callId, kind } of await system.approvals.list())
      await system.approvals.answer(callId, { kind: kind === "result" ? "release" : "approve" }, "ann").catch(() => {})
  }
  return settled
}

test("whichever write fails, no tool runs unrecorded, no result is returned unrecorded, and the audit log verifies", async () => {
  const whole = await runScript(0)
  expect(whole.results.map((result) => result.code)).toEqual(
    script.map((name) => (name === "fails" ? "tool_failed" : undefined)),
  )
  await whole.system.close()
  console.log(`the script writes ${whole.writes} times`)
  expect(whole.writes).toBeGreaterThan(20)
  for (let failAt = 1; failAt <= Math.max(40, whole.writes); failAt++) {
    const { system, store, port, ran, results, after } = await runScript(failAt)
    const said = { failAt, results: results.map((result) => result.code) }
    expect({ ...said, unrecorded: ran.filter((run) => !run.recorded) }).toEqual({ ...said, unrecorded: [] })
    expect({ ...said, runs: new Set(ran.map((run) => run.callId)).size }).toEqual({ ...said, runs: ran.length })
    for (const { success, code, error, result, callId } of results) {
      if (code === "record_unavailable") {
        expect(result).toBeUndefined()
        expect(error).toMatch(/no space left on device.*\.$/)
      } else expect({ ...said, callId, kept: port.ends.has(callId) }).toEqual({ ...said, callId, kept: true })
      if (success) expect(result).toBe("done")
    }
    const failures = results.filter((result) => result.code === "record_unavailable").length
    expect({ ...said, failures }).toEqual({ ...said, failures: expect.toSatisfy((count: number) => count <= 1) })
    expect({ ...said, after: after.success }).toEqual({ ...said, after: true })
    expect(await new Audit(store.database, store.key, store.journalDir).verify()).toMatchObject({ ok: true })
    await system.close()
  }
})

test("setting the clock back by an hour, between or during calls, loosens no limit and breaks no chain", async () => {
  const dir = temporaryFolder()
  const { lines, ended } = runChild(`
    let ahead = 0
    const now = Date.now
    Date.now = () => now() + ahead
    const { createQuartermaster, defineTool } = await import(${JSON.stringify(libraryFile)})
    const { z } = await import(${JSON.stringify(zodModule)})
    const system = await createQuartermaster({ data: { dir: ${JSON.stringify(dir)} } })
    const make = (name, execute, rateLimit) => system.registry.register(defineTool({
      name, group: "data", description: "Of a test.", effect: "none", input: z.object({}), execute,
      permission: { level: "public", ...(rateLimit === undefined ? {} : { rateLimit }) },
    }))
    make("plain", () => "done")
    make("limited", () => "done", { maxCallsPerMinute: 3 })
    make("turns", () => { ahead -= 3_600_000; return "done" })
    const call = async (tool) => {
      const { callId, code, durationMs } = await system.call({ agentId: "operator", tool, input: {} })
      console.log(JSON.stringify({ tool, callId, code, durationMs }))
    }
    for (const tool of ["plain", "limited", "limited", "limited", "limited"]) await call(tool)
    ahead -= 3_600_000
    for (const tool of ["plain", "limited", "turns", "plain", "limited"]) await call(tool)
    await system.close()
  `)
  expect(await ended).toBe(0)
  const calls = lines.map(
    (line) => JSON.parse(line) as { tool: string; callId: string; code?: string; durationMs: number },
  )
  expect(calls.map(({ tool: name, code }) => `${name} ${code ?? "success"}`)).toEqual([
    "plain success", "limited success", "limited success", "limited success", "limited rate_limited",
    "plain success", "limited rate_limited", "turns success", "plain success", "limited rate_limited",
  ]) // prettier-ignore
  expect(calls.every((call) => call.durationMs >= 0)).toBe(true)
  const system = await openTestApp({ data: { dir } }, { writes: "direct" })
  expect(await system.audit.verify()).toMatchObject({ ok: true })
  expect((await system.audit.list()).map((row) => row.callId).sort()).toEqual(calls.map((call) => call.callId).sort())
  for (const { callId, code } of calls) {
    const kinds = (await system.audit.show(callId)).map((entry) => entry.kind)
    expect(kinds).toEqual(code === "rate_limited" ? ["end"] : ["start", "end"])
  }
  expect([...calls].sort((one, other) => (one.callId < other.callId ? -1 : 1))).toEqual(calls)
})
