import { expect, test } from "vitest"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { CallRequest } from "../../../../core/call.ts"
import type { EventOf, EventType, Listener, QuartermasterEvent } from "../../../../core/events.ts"
import { failedWith, type ToolResult } from "../../../../core/result.ts"
import { runWithApp } from "../../testing.ts"

const about = { callId: "c1", toolName: "probe", agentId: "operator", at: 0 }
const waiting: EventOf<"TOOL_CALL_WAITING"> = {
  ...about,
  type: "TOOL_CALL_WAITING",
  until: new Date(2026, 0, 5, 7, 8, 9).getTime(),
}
const piece = (chunk: unknown, peopleOnly: boolean): QuartermasterEvent => ({
  ...about,
  type: "TOOL_CALL_OUTPUT",
  chunk,
  peopleOnly,
})
const success = (result: unknown, metadata = {}): ToolResult => ({
  callId: "c1",
  toolName: "probe",
  version: "1",
  status: "success",
  success: true,
  result,
  startedAt: 0,
  metadata,
})

/** An app in which one call emits these events and then ends with this result. */
function callWith(
  events: readonly QuartermasterEvent[],
  ended: ToolResult,
  kind?: "call" | "result" | "question",
  revision = 1,
) {
  const listeners: [EventType, Listener][] = []
  const received: unknown[] = []
  const emit = async (): Promise<ToolResult> => {
    for (const event of events) {
      for (const [type, listener] of listeners) if (type === event.type) listener(event as never)
      // The announcement reads the call first.
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    }
    return ended
  }
  const app = {
    on: ((type: EventType, listener: Listener) => (listeners.push([type, listener]), () => {})) as Quartermaster["on"],
    call: (request: CallRequest, options?: { waitMs: number }) => {
      if (options === undefined) return (received.push(["call", request.tool]), emit())
      received.push(["call", request.tool, options.waitMs])
      return Promise.resolve({
        callId: "c1",
        state: "waiting" as const,
        until: new Date(2026, 0, 5, 7, 8, 9).getTime(),
      })
    },
    approvals: {
      show: () => Promise.resolve(kind && ({ callId: "c1", until: waiting.until, kind, revision } as never)),
    },
    visibleTools: () => [],
  }
  return {
    received,
    run: (words: string[], given: Parameters<typeof runWithApp>[2] = {}) =>
      runWithApp(app, ["call", "probe", ...words], given),
  }
}

const until = "It waits until 2026-01-05 07:08:09; --wait <seconds> waits shorter and keeps it waiting.\n"

test.each([
  ["call", "qm approvals approve c1"],
  ["result", "qm approvals release c1"],
  ["question", "qm approvals answer c1 …"],
] as const)("without a terminal a waiting %s is announced with the command that answers it", async (kind, command) => {
  const { run } = callWith([waiting], success("done"), kind)
  expect(await run([])).toEqual({ code: 0, stdout: "done\n", stderr: `Waiting for a person: ${command}\n${until}` })
})

test.each([
  ["call", "qm approvals approve c1 --revision 2"],
  ["result", "qm approvals release c1 --revision 2"],
  ["question", "qm approvals answer c1 --revision 2 …"],
] as const)("a changed %s is announced with its revision", async (kind, command) => {
  const { run } = callWith([waiting], success("done"), kind, 2)
  expect((await run([])).stderr).toBe(`Waiting for a person: ${command}\n${until}`)
})

test("a call that is rejected at once or already answered is not announced", async () => {
  const { run } = callWith([waiting], success("done"), "call")
  expect((await run([], { config: { approvals: { unattended: "reject" } } })).stderr).toBe("")
  expect((await callWith([waiting], success("done")).run([])).stderr).toBe("")
})

test("with --wait a call that still waits ends with a ticket and stays in the queue", async () => {
  const { run, received } = callWith([], success("done"))
  const ticket = await run(["--wait", "1.5"])
  expect(ticket).toMatchObject({ code: 4, stdout: "" })
  expect(ticket.stderr).toMatch(/^Call c1 waits for a person until 2026-01-05 07:08:09\. .*\n.*repeat the same call/)
  expect(JSON.parse((await run(["--wait", "0", "--json"])).stdout)).toMatchObject({ callId: "c1", state: "waiting" })
  expect(received).toEqual([
    ["call", "probe", 1500],
    ["call", "probe", 0],
  ])
  for (const wrong of ["soon", "-1", "", "1e3"]) expect((await run([`--wait=${wrong}`])).code).toBe(2)
})

test("output that only people may see reaches no program, and a released result is shown in full", async () => {
  const held = [piece("the ", true), piece("secret", true)]
  expect(await callWith(held, success("the secret", { streamed: true })).run([])).toEqual({
    code: 0,
    stdout: "the secret\n",
    stderr: "",
  })
  const withheld = { ...failedWith("result_withheld", "It is withheld.", success("the secret")), result: "the secret" }
  for (const flags of [[], ["--json"]]) {
    const { stdout, stderr } = await callWith(held, withheld as ToolResult).run(flags)
    expect(stdout + stderr).not.toContain("secret")
  }
  expect(await callWith([piece("a", false), piece("b", false)], success("ab", { streamed: true })).run([])).toEqual({
    code: 0,
    stdout: "ab\n",
    stderr: "",
  })
})

const file = { content: "hello\nworld\n", size: 12, path: "a.txt", truncated: false }

test("a terminal gets the text of a result as text and what is known about it on stderr; a pipe gets JSON", async () => {
  expect(await callWith([], success(file)).run([], { terminal: true })).toEqual({
    code: 0,
    stdout: "hello\nworld\n",
    stderr: "(size 12, path a.txt, truncated false)\n",
  })
  expect(JSON.parse((await callWith([], success(file)).run([])).stdout)).toEqual(file)
  const { stdout } = await callWith([], success(file)).run(["--json"], { terminal: true })
  expect(JSON.parse(stdout)).toMatchObject({ result: file })
})

test.each([
  ["another text of several lines", { ...file, notes: "one\ntwo" }],
  ["a list beside its text", { ...file, pages: [1] }],
  ["no text", { size: 12, path: "a.txt" }],
  ["several files", { files: [file], failed: 0 }],
])("a result with %s is JSON on a terminal, too", async (_what, result) => {
  expect(JSON.parse((await callWith([], success(result)).run([], { terminal: true })).stdout)).toEqual(result)
})

test("output of a command is shown live on a terminal and only once; a program gets only the result", async () => {
  const pieces = [
    piece({ stream: "stdout", text: "one\n" }, false),
    piece({ stream: "stderr", text: "careful\u001b[2J" }, false),
    piece({ stream: "stdout", text: "two" }, false),
  ]
  const whole = { exitCode: 0, stdout: "one\ntwo", stderr: "careful\u001b[2J" }
  expect(await callWith(pieces, success(whole)).run([], { terminal: true })).toEqual({
    code: 0,
    stdout: `one\ntwo\n${JSON.stringify({ exitCode: 0 }, null, 2)}\n`,
    stderr: "careful\\u{1b}[2J",
  })
  const cut = { exitCode: 0, stdout: "one\n[cut]", stderr: "" }
  const shown = await callWith(pieces, success(cut)).run([], { terminal: true })
  expect(shown.stdout).toBe(`one\ntwo\n${JSON.stringify(cut, null, 2)}\n`)
  const piped = await callWith(pieces, success(whole, { streamed: true })).run([])
  expect(piped.stderr).toBe("")
  expect(JSON.parse(piped.stdout)).toEqual(whole)
  for (const terminal of [true, false]) {
    const json = await callWith(pieces, success(whole)).run(["--json"], { terminal })
    expect(json.stderr).toBe("")
    expect(JSON.parse(json.stdout)).toMatchObject({ result: whole })
  }
  const quiet = await callWith([], success({ exitCode: 0, stdout: "", stderr: "" })).run([], { terminal: true })
  expect(JSON.parse(quiet.stdout)).toEqual({ exitCode: 0, stdout: "", stderr: "" })
})

test.each([
  [
    "permission_denied",
    "probe was not executed: It is closed. (rule: r1) Do not try the same call again; ask a person or do it another way.",
    "probe was not executed: It is closed. (rule: r1) 'qm why probe …' says what would change that.\n",
  ],
  [
    "command_denied",
    "probe was not executed: No. (guard: always denied) Do not try the same call again.",
    "probe was not executed: No. (guard: always denied)\n",
  ],
  [
    "unknown_tool",
    'Tool "probe" not found. List the tools to see what there is.',
    "Tool \"probe\" not found. 'qm tools list' shows what there is.\n",
  ],
] as const)("what a model is told to do after %s, a person is told as a command", async (code, error, shown) => {
  expect((await callWith([], failedWith(code, error, success(0))).run([])).stderr).toBe(shown)
})
