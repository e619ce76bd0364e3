import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { AuditEntry } from "../../../../core/audit-entry.ts"
import type { AuditRow } from "../../../../store/port.ts"
import type { AuditReader, AuditStats, ExportedCall } from "../../../../audit/audit-reader.ts"
import { statsText } from "./audit-stats.ts"
import { openTestApp, temporaryFolder, tool } from "../../../../testing/test-app.ts"
import { runWithApp } from "../../testing.ts"

const call: ExportedCall = {
  callId: "c1",
  at: 5,
  agentId: "dev",
  role: "developer",
  tool: "set_env",
  version: "1.0.0",
  status: "success",
  code: "",
  startedAt: 4,
  durationMs: 1,
  sessionId: "s",
  taskId: "",
  userId: "",
  parentCallId: "",
  input: '{"key":"A"}',
  inputDigest: "",
  result: '=cmd|"x"',
  error: "",
  reasons: "",
  policy: "p",
}

function auditWith(replaced: Partial<AuditReader> = {}) {
  const received: unknown[] = []
  const audit: Partial<AuditReader> = {
    list: (filter) => (received.push(filter), Promise.resolve([])),
    showMany: () => Promise.resolve(new Map()),
    export: (filter) => {
      received.push(filter)
      return (async function* () {
        yield call
        yield { ...call, callId: "c2", input: "\u001b[31m" }
      })()
    },
    drop: (before, by) => (received.push(["drop", before, by]), Promise.resolve({ segments: 1, records: 12 })),
    ...replaced,
  }
  return { received, run: (...words: string[]) => runWithApp({ audit }, words) }
}

test("an export is one JSON object per line, safe on a terminal and equal when parsed", async () => {
  const { run, received } = auditWith()
  const { stdout } = await run(
    "audit",
    "export",
    "--agent",
    "dev",
    "--until",
    "2026-01-01T00:00Z",
    "--status",
    "timeout",
  )
  const lines = stdout.trimEnd().split("\n")
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    call,
    { ...call, callId: "c2", input: "\u001b[31m" },
  ])
  expect(stdout).not.toContain("\u001b")
  expect(received).toEqual([{ agentId: "dev", status: "timeout", until: Date.parse("2026-01-01T00:00:00Z") }])
})

test("a CSV export has a header with every field and no cell that a spreadsheet would run", async () => {
  const { run } = auditWith()
  const { stdout } = await run("audit", "export", "--format", "csv")
  const [head, first, ...rest] = stdout.split("\r\n")
  expect(head?.split(",")).toEqual(Object.keys(call))
  expect(first).toBe(`c1,5,dev,developer,set_env,1.0.0,success,,4,1,s,,,,"{""key"":""A""}",,"'=cmd|""x""",,,p`)
  expect(rest).toHaveLength(2)
  expect(await run("audit", "export", "--format", "xml")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--format takes one of jsonl, csv, and 'xml' is none of them."),
  })
})

test("old records are dropped only with --yes", async () => {
  const { run, received } = auditWith()
  const asked = await run("audit", "drop", "--before", "2026-01-01T00:00Z")
  expect(asked).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("then add --yes") as string })
  expect(received).toEqual([])
  expect((await run("audit", "drop", "--yes")).code).toBe(2)
  const done = await run("audit", "drop", "--before", "2026-01-01T00:00Z", "--yes")
  expect(done).toMatchObject({
    code: 0,
    stdout: "Dropped 12 records in 1 segment. 'qm audit verify' checks the remaining ones.\n",
  })
  expect(received).toEqual([["drop", Date.parse("2026-01-01T00:00:00Z"), "ada"]])
})

test("an empty list says how to make a call, and with a filter that nothing matches", async () => {
  const list = (...words: string[]) =>
    runWithApp({ audit: { list: () => Promise.resolve([]), showMany: () => Promise.resolve(new Map()) } }, [
      "audit",
      ...words,
    ])
  const text = async (...words: string[]) => Object.values(await list(...words)).join("")
  expect(await text("list", "--limit", "5")).toContain("No calls yet. 'qm call current_time' makes one.")
  expect(await text("list", "--tool", "x")).toContain("The audit log has no such call.")
})

test("what a call waited for people is listed and told apart from the time that its tool ran", async () => {
  const ids = { callId: "c1", agentId: "dev", tool: "set_env" }
  const entries: AuditEntry[] = [
    { kind: "asked", at: 1000, ...ids, text: "Why." },
    { kind: "answered", at: 661_000, ...ids, by: "ann", text: "approved" },
    { kind: "start", at: 661_001, ...ids },
    { kind: "end", at: 661_013, ...ids, status: "success", startedAt: 661_001, durationMs: 12, ran: true },
  ]
  const row: AuditRow = { ...ids, at: 661_013, status: "success", code: undefined, durationMs: 12 }
  const { run } = auditWith({
    list: () => Promise.resolve([row]),
    show: () => Promise.resolve(entries),
    showMany: () => Promise.resolve(new Map([["c1", entries]])),
  })
  expect((await run("audit", "list")).stdout).toMatch(/ WAITED +MS .*\n.* 11 min 0 s +12 +success/)
  expect(JSON.parse((await run("audit", "list", "--json")).stdout)).toMatchObject([
    { callId: "c1", durationMs: 12, waitedMs: 660_000 },
  ])
  expect((await run("audit", "show", "c1")).stdout).toContain("success after 12 ms; it waited 11 min 0 s for people\n")
})

test("a status may be a code, and nothing else", async () => {
  const { run, received } = auditWith()
  expect((await run("audit", "list", "--status", "approval_expired")).code).toBe(0)
  expect(received).toEqual([{ status: "approval_expired" }])
  expect(await run("audit", "list", "--status", "fine")).toMatchObject({ code: 2 })
})

test("statistics are grouped by tool, agent, role, status and hour", () => {
  const stats: AuditStats = {
    total: 3,
    failures: 1,
    byTool: { sleep: { count: 3, failures: 1, averageMs: 2 } },
    byAgent: { dev: { count: 3, failures: 1 } },
    byRole: { developer: { count: 2, failures: 0 }, "": { count: 1, failures: 1 } },
    byEnding: { success: 2, timeout: 1 },
    byHour: { "2026-01-01T09": { count: 3, failures: 1 } },
  }
  const tables = statsText(stats)
    .split("\n\n")
    .map((table) => table.split("\n").map((line) => line.split(/ {2,}/)))
  expect(tables).toEqual([
    [["3 calls, 1 of them did not succeed."]],
    [
      ["TOOL", "CALLS", "FAILED", "AVERAGE MS"],
      ["sleep", "3", "1", "2.0"],
    ],
    [
      ["AGENT", "CALLS", "FAILED"],
      ["dev", "3", "1"],
    ],
    [
      ["ROLE", "CALLS", "FAILED"],
      ["developer", "2", "0"],
      ["-", "1", "1"],
    ],
    [
      ["ENDING", "CALLS"],
      ["success", "2"],
      ["timeout", "1"],
    ],
    [
      ["HOUR (UTC)", "CALLS", "FAILED"],
      ["2026-01-01 09h", "3", "1"],
    ],
  ])
})

test("a backup says how large it is; what cannot be done is a sentence", async () => {
  const cwd = temporaryFolder()
  const backup = (folder: string) =>
    folder === join(cwd, "there")
      ? Promise.resolve({ files: 3, bytes: 2_500_000 })
      : Promise.reject(new Error(`${folder} is not empty. Choose a new one.`))
  const run = (...words: string[]) => runWithApp({ backup }, words, { cwd })
  expect((await run("backup", "there")).stdout).toMatch(`Copied 3 files (2.5 MB) to ${cwd}/there.`)
  expect(await run("backup", "elsewhere")).toEqual({
    code: 1,
    stdout: "",
    stderr: `${cwd}/elsewhere is not empty. Choose a new one.\n`,
  })
})

test("a backup is restored into the data folder; data that is there is moved aside with --replace", async () => {
  const cwd = temporaryFolder()
  const app = await openTestApp({ data: { dir: join(cwd, "data") } }, { home: cwd })
  const { files, bytes } = await app.backup(join(cwd, "copy"))
  const run = (...words: string[]) => runWithApp({}, ["restore", ...words], { cwd })
  const size = `${files} files (${(bytes / 1e6).toFixed(1)} MB)`
  const restored = await run("copy")
  expect(restored).toMatchObject({ code: 0, stderr: "" })
  expect(restored.stdout).toMatch(`Restored ${size} with `)
  expect(restored.stdout).toMatch(new RegExp(` records to ${cwd}/\\.quartermaster\\.\\n$`))
  expect(await run("copy")).toMatchObject({ code: 1, stdout: "" })
  const { previous } = JSON.parse((await run("copy", "--replace", "--json")).stdout) as { previous: string }
  expect(existsSync(previous)).toBe(true)
  expect(await run("elsewhere")).toMatchObject({ code: 1, stdout: "" })
})

test("audit show has the stack of a broken tool with --stack only", async () => {
  const app = await openTestApp({})
  const execute = () => {
    throw new TypeError("No list.")
  }
  app.registry.register(tool({ name: "breaks", execute }))
  const { callId } = await app.call({ agentId: "operator", tool: "breaks", input: {} })
  const shown = async (...words: string[]) =>
    (await runWithApp({ audit: app.audit }, ["audit", "show", callId, ...words])).stdout
  expect(await shown()).not.toContain("audit.test.ts")
  expect(await shown("--json")).not.toContain("audit.test.ts")
  expect(await shown("--stack")).toMatch(/error: No list\.\n +TypeError: No list\.\n +at .*audit\.test\.ts/)
})

test("audit show takes a record as audit verify names it", async () => {
  const app = await openTestApp({})
  const { callId } = await app.call({ agentId: "operator", tool: "current_time", input: {} })
  for (const words of [["record", "1/1"], ["record 1/1"], ["1/1"]]) {
    const { code, stdout } = await runWithApp({ audit: app.audit }, ["audit", "show", ...words, "--json"])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject([{ callId }, { callId }])
  }
  expect((await runWithApp({ audit: app.audit }, ["audit", "show", "record", "1/99"])).code).toBe(1)
})
