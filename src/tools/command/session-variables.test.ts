import { expect, test } from "vitest"
import { isTicket } from "../../core/result.ts"
import { openTestApp, temporaryFolder, until } from "../../testing/test-app.ts"

/** An app in which the commands `printenv` and `true` and `set_env` run unasked. */
async function openApp() {
  const app = await openTestApp(
    {
      tools: { shell: { sandbox: "off", allow: ["printenv", "true"] } },
      rules: [{ allow: "set_env", because: "It is a test." }],
    },
    { workspace: temporaryFolder() },
  )
  const request = (tool: string, input: object, sessionId: string) => ({ agentId: "operator", tool, input, sessionId })
  const set = (key: string, value: string, session = "s") => app.call(request("set_env", { key, value }, session))
  const submit = (command: string, more: object = {}, session = "s") =>
    app.call(request("run_command", { command, ...more }, session), { waitMs: 0 })
  const run = async (command: string, more: object = {}, session = "s") => {
    const answer = await submit(command, more, session)
    return isTicket(answer) ? "waits" : (answer.result as { stdout: string } | undefined)?.stdout.trim()
  }
  return { app, set, submit, run }
}

test("a command has the variables of its session, under those of the call", async () => {
  const { set, run } = await openApp()
  await set("NODE_ENV", "test")
  await set("QM_AGENT", "root")
  expect(await run("printenv NODE_ENV")).toBe("test")
  expect(await run("printenv NODE_ENV", { env: { NODE_ENV: "production" } })).toBe("production")
  expect(await run("printenv NODE_ENV", {}, "another")).toBe("")
  expect(await run("printenv QM_AGENT")).toBe("")
})

test.each([
  ["LD_PRELOAD", "./evil.so"],
  ["GIT_SSH_COMMAND", "./evil"],
  ["PATH", "."],
  ["MINE", "1"],
])("a command asks when set_env has set %s, as it does when the call sets it", async (key, value) => {
  const { app, set, run } = await openApp()
  expect(await run("true")).toBe("")
  expect(await run("true", { env: { [key]: value } })).toBe("waits")
  await set(key, value)
  expect(await run("true")).toBe("waits")
  const { verdict, reasons } = await app.why({ agentId: "operator", tool: "run_command", input: { command: "true" }, sessionId: "s" }) // prettier-ignore
  expect([verdict, reasons[0]]).toMatchObject(["ask", { code: "variable_opaque", params: { variable: key } }])
})

test("an approver sees the session's variables, and an approval holds for their values only", async () => {
  const { app, set, submit } = await openApp()
  await set("MINE", "1")
  await set("MY_TOKEN", "very secret")
  const { callId } = await submit("printenv MINE")
  const [item] = await app.approvals.list()
  expect(item?.preview).toContain("Variable of the session: MINE=1")
  expect(JSON.stringify(item)).not.toContain("very secret")
  await set("MINE", "2")
  await app.approvals.answer(callId, { kind: "approve" }, "ann", item!.revision)
  const resumed = app.resume(callId)
  await until(async () => (await app.approvals.list())[0]?.revision === 2, "the call waits with the new value")
  expect((await app.approvals.list())[0]?.preview).toContain("MINE=2")
  await app.approvals.answer(callId, { kind: "approve" }, "ann", 2)
  expect(await resumed).toMatchObject({ success: true, result: { stdout: "2\n" } })
})

test("an agent that names the session of another gets none of its variables, in get_env and in commands, and changes none", async () => {
  const { app, set, run } = await openApp()
  await app.org.createAgent({ id: "eve", role: "operator" }, { kind: "person", id: "admin" })
  const asEve = async (tool: string, input: object) =>
    (await app.call({ agentId: "eve", tool, input, sessionId: "s" })).result
  await set("NODE_ENV", "staging")
  expect(await asEve("get_env", { key: "NODE_ENV" })).not.toEqual({ value: "staging" })
  expect(await asEve("run_command", { command: "printenv NODE_ENV" })).toMatchObject({ stdout: "" })
  expect(await asEve("set_env", { key: "NODE_ENV", value: "production" })).not.toEqual({ previous: "staging" })
  expect(await run("printenv NODE_ENV")).toBe("staging")
})
