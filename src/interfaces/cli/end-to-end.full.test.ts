import { expect, test } from "vitest"
import type { PendingItem } from "../../core/approval.ts"
import type { ToolResult } from "../../core/result.ts"
import { waitForOutput, outputOf, makeCli } from "./testing.ts"

type Cli = ReturnType<typeof makeCli>
const read = ({ stdout }: { stdout: string }) => JSON.parse(stdout) as unknown
const saying = (text: string) => expect.stringContaining(text) as string

/** Starts a call in a process of its own and resolves when it waits for a person. */
async function waits({ start, run }: Cli, ...words: string[]) {
  const process = start("call", ...words, "--json")
  const end = outputOf(process, "")
  await waitForOutput(process, "Waiting for a person: qm ")
  const [item] = read(await run("approvals", "list", "--json")) as PendingItem[]
  if (item === undefined) throw new Error("Nothing waits.")
  const result = async () => ({ ...(await end), result: read(await end) as ToolResult })
  return { item, id: item.callId, result }
}

test("seen from outside: make a role and an agent, ask why, wait, approve elsewhere, freeze and thaw", async () => {
  const cli = makeCli()
  const { run } = cli
  expect(
    await run(..."roles create --name developer --groups data,system --department eng --level 2".split(" ")),
  ).toMatchObject({ code: 0, stdout: "Created role developer with data, system groups.\n" })
  expect((await run("agents", "create", "--id", "dev", "--role", "developer")).code).toBe(0)
  const why = await run("why", "set_env", '{"key":"A","value":"1"}', "--agent", "dev")
  expect(why).toMatchObject({ code: 0, stdout: saying("Agent dev may call set_env after a person has approved it.\n") })

  const waiting = await waits(cli, "set_env", "key=A", "value=1", "--agent", "dev")
  expect(waiting.item).toMatchObject({
    kind: "call",
    agentId: "dev",
    role: "developer",
    input: { key: "A", value: "1" },
  })
  const approved = await run("approvals", "approve", waiting.id.slice(0, -2), "--remember", "tool-session")
  expect(approved).toEqual({
    code: 0,
    stdout: "set_env of dev (A=1): Approved.\n",
    stderr: "",
  })
  expect(await waiting.result()).toMatchObject({ code: 0, result: { success: true, result: { previous: null } } })
  expect(read(await run("call", "set_env", "key=A", "value=2", "--agent", "dev", "--json"))).toMatchObject({
    result: { previous: "1" },
  })

  expect((await run("audit", "verify")).code).toBe(0)
  expect((await run("audit", "stats")).stdout).toMatch(/^developer +2 +0$/m)
  expect((await run("freeze", "--agent", "dev", "--because", "lunch")).code).toBe(0)
  const frozen = await run("call", "current_time", "--agent", "dev")
  expect(frozen).toMatchObject({ code: 3, stdout: "", stderr: saying("frozen") })
  expect((await run("thaw", "--agent", "dev")).code).toBe(0)
  expect((await run("call", "current_time", "--agent", "dev")).code).toBe(0)
})

test("grants are listed in words, and revoking one ends it; a rejection is remembered only on request", async () => {
  const cli = makeCli()
  const { run } = cli
  const first = await waits(cli, "set_env", "key=A", "value=1")
  await run("approvals", "approve", first.id, "--remember", "tool-always")
  expect((await first.result()).code).toBe(0)
  const list = await run("grants", "list")
  expect(list.stdout).toContain("Agent operator may call set_env in the folder")
  const [grant] = read(await run("grants", "list", "--json")) as { id: string }[]
  expect((await run("grants", "revoke", grant?.id ?? "")).stdout).toContain("Revoked: Agent operator may")

  const second = await waits(cli, "set_env", "key=A", "value=2")
  expect(
    (await run("approvals", "reject", second.id, "--reason", "not today", "--remember", "tool-session")).code,
  ).toBe(0)
  const rejected = await second.result()
  expect(rejected.code).toBe(4)
  expect(rejected.result).toMatchObject({ code: "approval_rejected", rejectReason: "not today" })
  expect(await run("call", "set_env", "key=A", "value=3")).toMatchObject({ code: 4, stdout: "" })
})

test("an answer is remembered for a task or for minutes, and 'qm grants list' says when it ends", async () => {
  const { run } = makeCli()
  const words = (value: string, task = "t1") => ["call", "set_env", "key=A", `value=${value}`, "--task", task]
  const ask = async (value: string, task?: string) => {
    const { code, stdout } = await run(...words(value, task), "--wait", "0", "--json")
    expect(code).toBe(4)
    return (JSON.parse(stdout) as { callId: string }).callId
  }
  expect((await run("approvals", "approve", await ask("1"), "--remember", "task")).code).toBe(0)
  expect((await run(...words("2"))).code).toBe(0)
  const other = await ask("3", "t2")
  expect((await run("approvals", "show", other)).stdout).toContain("--remember minutes:30")
  expect((await run("approvals", "approve", other, "--remember", "minutes:90")).code).toBe(0)
  expect((await run(...words("4", "t3"))).code).toBe(0)
  const list = await run("grants", "list")
  expect(list.stdout).toMatch(/20\d\d-\d\d-\d\d \d\d:\d\d:\d\d +Agent operator may call set_env.* in task t1/)
  expect(list.stdout).toContain("for 90 minutes")
  const grants = read(await run("grants", "list", "--json")) as { createdAt: number; expiresAt: number }[]
  expect(grants.map(({ createdAt, expiresAt }) => (expiresAt - createdAt) / 60_000)).toEqual([24 * 60, 90])
})

test("the offered rule is accepted while approving, and what was always approved is suggested as a rule", async () => {
  const cli = makeCli()
  const { run } = cli
  const ask = async (command: string, n = 1) => {
    const words = ["call", "run_command", `command=${command}`, `timeoutMs:=${10_000 + n}`]
    const { code, stdout } = await run(...words, "--wait", "0", "--json")
    expect(code).toBe(4)
    return { id: (JSON.parse(stdout) as { callId: string }).callId, words }
  }
  cli.write("a.txt", "x")
  const first = await ask("ls")
  expect((await run("approvals", "show", first.id)).stdout).toContain("--rule 8h")
  expect((await run("approvals", "approve", first.id, "--rule", "8h", "--as", "ann")).code).toBe(3)
  expect((await cli.shell(`QM_INSIDE=1 qm approvals approve ${first.id} --rule 8h`)).code).toBe(3)
  expect(read(await run("rules", "list", "--json"))).toMatchObject({ rules: [{ source: "built in" }] })
  expect((await run("approvals", "approve", first.id, "--rule", "8h")).stdout).toContain("A rule was added until")
  expect((await run("call", "run_command", "command=ls -a")).code).toBe(0)
  for (let n = 0; n < 5; n++) {
    const { id, words } = await ask("wc -l a.txt", n)
    expect((await run("approvals", "approve", id)).code).toBe(0)
    expect((await run(...words)).code).toBe(0)
  }
  const found = read(await run("rules", "suggest", "--json")) as { suggestions: unknown[] }
  expect(found.suggestions).toEqual([
    expect.objectContaining({
      approvals: 5,
      rule: expect.objectContaining({ touching: ["command:wc", "command:wc *"] }) as unknown,
    }),
  ])
})

test("a call that stops waiting leaves a ticket, and the same call uses the answer later", async () => {
  const { run } = makeCli()
  const words = ["call", "set_env", "key=A", "value=1"]
  const ticket = await run(...words, "--wait", "0", "--json")
  expect(ticket.code).toBe(4)
  const { callId, state } = read(ticket) as { callId: string; state: string }
  expect(state).toBe("waiting")
  expect(await run(...words, "--wait", "0")).toMatchObject({
    code: 4,
    stdout: "",
    stderr: saying(`Call ${callId} waits`),
  })
  expect((await run("approvals", "approve", callId)).code).toBe(0)
  expect(await run("approvals", "reject", callId)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: saying("answered already"),
  })
  const redeemed = read(await run(...words, "--json")) as ToolResult
  expect(redeemed).toMatchObject({ success: true, callId })
})

test("a person may change the input, sees it again, and approves exactly that", async () => {
  const cli = makeCli()
  const { run } = cli
  const waiting = await waits(cli, "set_env", "key=A", "value=1")
  const edited = await run("approvals", "edit", waiting.id, '{"key":"A","value":"2"}')
  expect(edited).toMatchObject({ code: 0, stdout: saying("revision 2, edited by") })
  expect(edited.stdout).toContain("A=2")
  const late = await run("approvals", "approve", waiting.id, "--revision", "1")
  expect(late).toMatchObject({ code: 1, stderr: saying("this is revision 2 now") })
  const unseen = await run("approvals", "approve", waiting.id)
  expect(unseen).toMatchObject({ code: 1, stderr: saying(`approve ${waiting.id} --revision 2`) })
  expect((await run("approvals", "approve", waiting.id, "--revision", "2")).code).toBe(0)
  expect((await waiting.result()).result).toMatchObject({ success: true, ranInput: { key: "A", value: "2" } })
})

test("questions and results can be answered from another terminal", async () => {
  const cli = makeCli()
  const { run } = cli
  const asked = await waits(cli, "ask_user", "question=Which?", "options=red", "options=dark red")
  expect(await run("approvals", "answer", asked.id, "green")).toMatchObject({ code: 1, stderr: saying("not one of") })
  expect((await run("approvals", "answer", asked.id, "dark", "red")).code).toBe(0)
  expect((await asked.result()).result).toMatchObject({ result: { answer: "dark red" } })

  const always = ["--set", "tools.permissions.base64_encode.requireResultApproval=always"]
  const held = await waits(cli, "base64_encode", "text=hello", ...always)
  expect(held.item).toMatchObject({ kind: "result", result: { result: { encoded: "aGVsbG8=" } } })
  expect(await run("approvals", "approve", held.id)).toMatchObject({ code: 1, stderr: saying("release, withhold") })
  expect((await run("approvals", "release", held.id, "--replace", "[gone]")).code).toBe(0)
  const released = await held.result()
  expect(released).toMatchObject({ code: 0, result: { result: "[gone]" } })
  expect(released.stdout).not.toContain("aGVsbG8=")
})

test("an approver needs the role and the token, and two approvers are two people", async () => {
  const cli = makeCli()
  const { run, write } = cli
  write(
    "rules.yml",
    'rules: [{ ask: set_env, because: "Two leads.", approvers: { role: lead, count: 2 } }]\norg: { roles: [{ name: lead }] }',
  )
  const config = ["--config", "rules.yml"]
  for (const id of ["ann", "bob"]) {
    const created = await run(...config, "people", "create", "--id", id, "--roles", "lead")
    expect(created).toMatchObject({ code: 0, stdout: saying("qmp_") })
  }
  const waiting = await waits(cli, ...config, "set_env", "key=A", "value=1")
  const approve = (...as: string[]) => run(...config, ...as, "approvals", "approve", waiting.id)
  expect(await approve()).toMatchObject({ code: 1, stderr: saying("does not have the role") })
  expect(await approve("--as", "eve")).toMatchObject({ code: 3, stderr: saying("There is no person 'eve'") })
  expect(await approve("--as", "ann")).toMatchObject({ code: 0, stdout: saying(": Counted. 1 more must agree.\n") })
  expect(await approve("--as", "ann")).toMatchObject({ code: 1, stderr: saying("ann has agreed already") })
  expect(await approve("--as", "bob")).toMatchObject({ code: 0, stdout: saying(": Approved.") })
  expect((await waiting.result()).code).toBe(0)
})

test("approvals watch shows new items until Ctrl-C", async () => {
  const cli = makeCli()
  await cli.run("start")
  const watching = cli.start("approvals", "watch")
  const end = outputOf(watching, "")
  await waitForOutput(watching, "Watching for approvals")
  const shown = waitForOutput(watching, "qm approvals reject ")
  const { id } = await waits(cli, "set_env", "key=A", "value=1")
  await shown
  watching.kill("SIGINT")
  const { code, stdout } = await end
  expect(code).toBe(0)
  expect(stdout).toContain("operator (operator) wants to call set_env [moderate]")
  expect(stdout.match(/qm approvals approve \S+$/gm)).toEqual([`qm approvals approve ${id}`])
})

test("what the configuration names is read-only, unknown groups are refused by name, and a role has all groups, some or none", async () => {
  const { run, write } = makeCli()
  write("mine.yml", "org: { roles: [{ name: tester, toolGroups: [data] }], agents: [{ id: tess, role: tester }] }")
  const qm = (...words: string[]) => run("--config", "mine.yml", ...words)
  expect((await qm("roles")).stdout).toMatch(/^tester +data +- +- +configuration$/m)
  for (const change of [
    ["roles", "update", "tester", "--level", "3"],
    ["roles", "delete", "tester"],
    ["agents", "terminate", "tess"],
  ]) {
    expect(await qm(...change)).toMatchObject({ code: 1, stdout: "", stderr: saying("written in the configuration") })
  }
  expect(await qm("roles", "update", "root", "--groups", "data")).toMatchObject({ code: 1, stderr: saying("built in") })
  expect(read(await qm("roles", "create", "--name", "x", "--groups", "data,dta", "--json"))).toMatchObject({
    error: "invalid_tool_group_ids",
    invalidGroups: ["dta"],
  })
  await qm("roles", "create", "--name", "x", "--groups", "data")
  expect(await qm("roles", "update", "x", "--groups", "")).toMatchObject({
    code: 0,
    stderr: "The role has no groups, so its agents have no tools.\n",
  })
  expect((await qm("roles")).stdout).toMatch(/^x +none /m)
  await qm("agents", "create", "--id", "idle", "--role", "x")
  expect(read(await qm("tools", "list", "--agent", "idle", "--json"))).toEqual([])
  expect(await qm("roles", "update", "x", "--groups", "all")).toMatchObject({
    code: 0,
    stderr: "No groups were chosen, so the role has all groups.\n",
  })
  expect((await qm("roles")).stdout).toMatch(/^x +all /m)
})

test("rules are added, tried, simulated and removed", async () => {
  const { run, write } = makeCli()
  expect((await run("call", "base64_encode", "text=hello")).code).toBe(0)
  const added = await run(
    "rules",
    "add",
    '{"deny":"base64_encode","args":{"/text":"h*"},"because":"No greetings."}',
    "--json",
  )
  expect(added.code).toBe(0)
  expect(await run("call", "base64_encode", "text=hello")).toMatchObject({ code: 3, stderr: saying("No greetings.") })
  const why = await run("why", "base64_encode", "text=hello", "--json")
  expect(read(why)).toMatchObject({ verdict: "deny", code: "permission_denied" })
  expect((await run("call", "base64_encode", "text=bye")).code).toBe(0)
  expect((await run("rules", "remove", (read(added) as { id: string }).id)).code).toBe(0)
  expect(await run("rules", "add", '{"deny":"base64_encode"}')).toMatchObject({ code: 2, stderr: saying("because") })

  write("good.yml", '- { ask: base64_encode, because: "Look first.", examples: { match: [{ input: { text: a } }] } }')
  write(
    "bad.yml",
    '- { ask: base64_encode, because: "Look.", args: { /text: b }, examples: { match: [{ input: { text: a } }] } }',
  )
  expect((await run("rules", "test", "good.yml")).code).toBe(0)
  expect(await run("rules", "test", "bad.yml")).toMatchObject({ code: 1, stderr: saying("(example)") })
  const simulated = await run("rules", "simulate", "--rules", "good.yml", "--since", "1h")
  expect(simulated.code).toBe(0)
  expect(simulated.stdout.match(/ allow +ask +/g)).toHaveLength(3)
})

test("a freeze aborts calls in another process", async () => {
  const { run, start } = makeCli()
  await run("start")
  const sleeping = start("call", "sleep", "duration=30", "--json")
  const end = outputOf(sleeping, "")
  await until(async () => (read(await run("audit", "verify", "--json")) as { records: number }).records > 0)
  expect((await run("freeze", "--because", "lunch")).code).toBe(0)
  const { code, stdout } = await end
  expect(code).toBe(3)
  expect(JSON.parse(stdout)).toMatchObject({ code: "frozen", metadata: { ran: true } })
})

test("a backup is restored completely, and the previous data is moved aside", async () => {
  const { run } = makeCli()
  await run("call", "base64_encode", "text=a")
  await run("roles", "create", "--name", "developer")
  expect((await run("backup", "../copy")).code).toBe(0)
  await run("roles", "delete", "developer")
  expect(await run("restore", "../copy")).toMatchObject({ code: 1, stdout: "", stderr: saying("--replace") })
  expect(await run("restore", "../copy", "--replace")).toMatchObject({
    code: 0,
    stdout: saying("The previous data is in"),
  })
  expect((await run("roles")).stdout).toMatch(/^developer /m)
  expect((await run("audit", "verify")).code).toBe(0)
  expect(read(await run("audit", "list", "--json")) as unknown[]).toHaveLength(1)
})

test("an answer in a terminal is recorded with the person's name", async () => {
  const { run, inTerminal } = makeCli()
  const words = ["call", "set_env", "key=A", "value=1"]
  expect((await inTerminal([...words], [["Run set_env?", "a\r"]])).code).toBe(0)
  const [row] = read(await run("audit", "list", "--json")) as { callId: string }[]
  const me = /^ok +You are (\S+), proved by/m.exec((await run("doctor")).stdout)?.[1]
  expect(me).toBeTruthy()
  expect((await run("audit", "show", row?.callId ?? "")).stdout).toContain(`answered  by ${me}: approved`)
  expect((await inTerminal(["--as", "eve", ...words], [])).code).toBe(3)
})

/** Asks again and again; the test's own time limit ends it. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise(setImmediate)
}
