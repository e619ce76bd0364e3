import { expect, test } from "vitest"
import type { AuditReader, AuditStats, ExportedCall } from "../model/app.ts"
import type { House } from "./house.ts"
import { statsText } from "./stats.ts"
import { runOver } from "./testing.ts"

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
  const told: unknown[] = []
  const audit: Partial<AuditReader> = {
    list: (filter) => (told.push(filter), Promise.resolve([])),
    export: (filter) => {
      told.push(filter)
      return (async function* () {
        yield call
        yield { ...call, callId: "c2", input: "\u001b[31m" }
      })()
    },
    drop: (before, by) => (told.push(["drop", before, by]), Promise.resolve({ segments: 1, records: 12 })),
    ...replaced,
  }
  return { told, run: (...words: string[]) => runOver({ audit }, words) }
}

test("an export is one JSON object a line, safe on a terminal and the same when read back", async () => {
  const { run, told } = auditWith()
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
  expect(told).toEqual([{ agentId: "dev", status: "timeout", until: Date.parse("2026-01-01T00:00:00Z") }])
})

test("an export as CSV has a head with every field, and no cell that a spreadsheet would run", async () => {
  const { run } = auditWith()
  const { stdout } = await run("audit", "export", "--format", "csv")
  const [head, first, ...rest] = stdout.split("\r\n")
  expect(head?.split(",")).toEqual(Object.keys(call))
  expect(first).toBe(`c1,5,dev,developer,set_env,1.0.0,success,,4,1,s,,,,"{""key"":""A""}",,"'=cmd|""x""",,,p`)
  expect(rest).toHaveLength(2)
  expect(await run("audit", "export", "--format", "xml")).toMatchObject({
    code: 2,
    stderr: "--format takes one of jsonl, csv, and 'xml' is none of them.\n",
  })
})

test("a part of the record is dropped only by a person who says so twice", async () => {
  const { run, told } = auditWith()
  const asked = await run("audit", "drop", "--before", "2026-01-01T00:00Z")
  expect(asked).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("then add --yes") as string })
  expect(told).toEqual([])
  expect((await run("audit", "drop", "--yes")).code).toBe(2)
  const done = await run("audit", "drop", "--before", "2026-01-01T00:00Z", "--yes")
  expect(done).toMatchObject({
    code: 0,
    stdout: "Dropped 12 records in 1 part. 'qm audit verify' goes on from there.\n",
  })
  expect(told).toEqual([["drop", Date.parse("2026-01-01T00:00:00Z"), "ada"]])
})

test("a status may be a code, and nothing else", async () => {
  const { run, told } = auditWith()
  expect((await run("audit", "list", "--status", "approval_expired")).code).toBe(0)
  expect(told).toEqual([{ status: "approval_expired" }])
  expect(await run("audit", "list", "--status", "fine")).toMatchObject({ code: 2 })
})

test("the statistics tell tools, agents, roles, endings and hours apart", () => {
  const stats: AuditStats = {
    total: 3,
    failures: 1,
    byTool: { sleep: { count: 3, failures: 1, averageMs: 2 } },
    byAgent: { dev: { count: 3, failures: 1 } },
    byRole: { developer: { count: 2, failures: 0 }, "": { count: 1, failures: 1 } },
    byEnding: { success: 2, timeout: 1 },
    byHour: { "2026-01-01T09": { count: 3, failures: 1 } },
  }
  const tables = statsText(stats, (text) => text)
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

test("a copy is made and put back with how much it is; what cannot be done is a sentence", async () => {
  const size = { files: 3, bytes: 2_500_000 }
  const backup = (folder: string) =>
    folder === "/nowhere/there"
      ? Promise.resolve(size)
      : Promise.reject(new Error(`${folder} is not empty. Choose a new one.`))
  const told: unknown[] = []
  const restore: House["restore"] = (folder, _, { replace }) => {
    told.push([folder, replace])
    return Promise.resolve({ ...size, records: 7, ...(replace ? { previous: "/nowhere/old" } : {}) })
  }
  const run = (...words: string[]) => runOver({ backup }, words, { house: { restore } })
  expect((await run("backup", "there")).stdout).toMatch(/^Copied 3 files \(2\.5 MB\) to \/nowhere\/there\./)
  expect(await run("backup", "elsewhere")).toEqual({
    code: 1,
    stdout: "",
    stderr: "/nowhere/elsewhere is not empty. Choose a new one.\n",
  })
  const restored = "Restored 3 files (2.5 MB) with 7 records to /nowhere/.quartermaster."
  expect((await run("restore", "there")).stdout).toBe(`${restored}\n`)
  expect((await run("restore", "there", "--replace")).stdout).toBe(
    `${restored} What was there is in /nowhere/old now.\n`,
  )
  expect(told).toEqual([
    ["/nowhere/there", false],
    ["/nowhere/there", true],
  ])
})
