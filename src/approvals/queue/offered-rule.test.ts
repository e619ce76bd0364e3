import { expect, test } from "vitest"
import { z } from "zod"
import type { Config } from "../../config/schema.ts"
import type { CallRequest } from "../../core/call.ts"
import { isTicket } from "../../core/result.ts"
import type { Touch } from "../../core/touches.ts"
import type { ToolSpec } from "../../core/tool.ts"
import { openTestApp, temporaryFolder, tool } from "../../testing/test-app.ts"
import { leaveWaiting, admin } from "../../call/testing.ts"

const hourMs = 3_600_000

/** An app with a sensitive tool that writes a file, an agent, and its sub-agent. */
async function open(more: Partial<ToolSpec<never>> = {}, config: Config = {}) {
  const app = await openTestApp(config, { workspace: temporaryFolder() })
  await app.org.createRole({ name: "developer" }, admin)
  await app.org.createAgent({ id: "dev", role: "developer" }, admin)
  await app.org.createAgent({ id: "child", role: "developer", parentId: "dev" }, admin)
  app.registry.register(
    tool({
      input: z.object({ path: z.string().default("a[1].txt"), command: z.string().default("") }) as never,
      permission: { level: "sensitive" },
      touches: ({ path, command }: { path: string; command: string }): Touch[] => [
        command === "" ? { kind: "write", what: path } : { kind: "command", what: command },
      ],
      execute: () => "ran",
      ...more,
    }),
  )
  const asks = async (change: Partial<CallRequest> = {}) => {
    const ended = await app.call({ agentId: "dev", tool: "probe", input: {}, ...change }, { waitMs: 0 })
    if (!isTicket(ended)) return ended.code ?? "runs"
    await app.approvals.answer(ended.callId, { kind: "reject" }, "ann")
    await app.resume(ended.callId)
    return "asks"
  }
  const accept = async (input: unknown) => {
    const item = await leaveWaiting(app, { agentId: "dev", input })
    const given = { by: "ann", expiresAt: Date.now() + hourMs, revision: item.revision }
    expect(await app.approvals.approveWithRule(item.callId, given)).toMatchObject({ ok: true, done: true })
    expect(await app.resume(item.callId)).toMatchObject({ result: "ran" })
    return item
  }
  return { app, asks, accept }
}

test("for a sensitive tool the card offers a rule for this agent, this tool and what the call touches", async () => {
  const { app, asks, accept } = await open()
  expect(await asks()).toBe("asks")
  const item = await accept({})
  expect(item.remember).toEqual([])
  const touching = [String.raw`write:a\[1\].txt`]
  expect(item.rule).toEqual({ allow: "probe", agent: "dev", touching, words: expect.stringContaining("Agent dev may") })
  const added = app.rules.list().at(-1)!
  expect(added).toMatchObject({ verdict: "allow", tool: "probe", agent: ["dev"], touching })
  expect(Date.parse(added.expiresAt!)).toBeGreaterThan(Date.now())
  expect(await asks()).toBe("runs")
  expect(await asks({ sessionId: "another" })).toBe("runs")
  for (const change of [{ input: { path: "a1.txt" } }, { agentId: "child" }, { agentId: "operator" }])
    expect(await asks(change)).toBe("asks")
  await app.rules.remove(added.id, "ann")
  expect(await asks()).toBe("asks")
})

test("a rule for a command names its program and subcommand, the exact line after a wrapper, and every redirect", async () => {
  const { asks, accept } = await open()
  const command = (line: string) => ({ input: { command: line } })
  expect((await accept(command("git status -s").input)).rule?.touching).toEqual([
    "command:git status",
    "command:git status *",
  ])
  expect(await asks(command("git status --long"))).toBe("runs")
  for (const line of ["git log", "git status && git log", "git status > log.txt", "git statusx"])
    expect([line, await asks(command(line))]).toEqual([line, "asks"])
  await accept(command("timeout 5 ls").input)
  expect(await asks(command("ls src"))).toBe("runs")
  expect(await asks(command("timeout 6 ls"))).toBe("asks")
  await accept(command("rm build.log").input)
  expect(await asks(command("rm other.log"))).toBe("asks")
  await accept(command("mytool build > log.txt").input)
  expect(await asks(command("mytool build -v > log.txt"))).toBe("runs")
  expect(await asks(command("mytool build > other.txt"))).toBe("asks")
})

test.each<[string, Partial<ToolSpec<never>>, Config["rules"], object]>([
  ["a moderate tool, whose yes can be remembered", { permission: { level: "moderate" } }, [], {}],
  ["a tool that does not say what it touches", { touches: () => [] }, [], {}],
  ["a call that a rule asks about", {}, [{ ask: "probe", because: "Look every time." }], {}],
  ["a command that cannot be proved", {}, [], { command: "bash -c ls" }],
])("no rule is offered for %s", async (_what, more, rules, input) => {
  const { app } = await open(more, { rules })
  const item = await leaveWaiting(app, { agentId: "dev", input })
  expect(item.rule).toBeUndefined()
  const before = app.rules.list()
  const given = { by: "ann", expiresAt: Date.now() + hourMs }
  expect(await app.approvals.approveWithRule(item.callId, given)).toMatchObject({ ok: false })
  expect(await app.approvals.show(item.callId)).toEqual(item)
  expect(app.rules.list()).toEqual(before)
})

test("a rule is added only with an approval that counts", async () => {
  const { app } = await open()
  const item = await leaveWaiting(app, { agentId: "dev", input: {} })
  const expiresAt = Date.now() + hourMs
  for (const given of [
    { by: "dev", expiresAt },
    { by: "ann", expiresAt, revision: 2 },
    { by: "ann", expiresAt: Date.now() - 1 },
  ]) {
    expect(await app.approvals.approveWithRule(item.callId, given)).toMatchObject({ ok: false })
  }
  expect(await app.approvals.show(item.callId)).toEqual(item)
  await app.approvals.answer(item.callId, { kind: "reject" }, "ann")
  expect(await app.approvals.approveWithRule(item.callId, { by: "ann", expiresAt })).toMatchObject({ ok: false })
  expect(app.rules.list().filter(({ source }) => source.startsWith("rule "))).toEqual([])
})

test.each([
  ["write_file", { path: "notes/a.md", content: "x" }],
  ["run_command", { command: "git fetch origin" }],
])("'qm why' proposes the rule that the card of %s offers, and it is enough", async (name, input) => {
  const { app } = await open()
  const request = { agentId: "dev", tool: name, input }
  const { change } = await app.why(request)
  const { words: _words, ...rule } = (await leaveWaiting(app, request)).rule!
  const line = `qm rules add '${JSON.stringify({ ...rule, because: "<why>" })}'`
  expect(change).toEqual(["Approve it when it waits: qm approvals approve <id>", line])
  await app.rules.add({ ...rule, because: "So." }, "ann")
  expect((await app.why(request)).verdict).toBe("allow")
})

test("'qm why' proposes no rule for a command that is not proved", async () => {
  const { app } = await open()
  const { change, verdict } = await app.why({ agentId: "dev", tool: "run_command", input: { command: "$(cat a)" } })
  expect({ change, verdict }).toEqual({
    change: ["Approve it when it waits: qm approvals approve <id>"],
    verdict: "ask",
  })
})
