import { expect, test } from "vitest"
import { z } from "zod"
import { openTestApp, tool } from "../testing/test-app.ts"
import { leaveWaiting, showPending, expectTicket } from "../call/testing.ts"

/* Ways around a rule that only the whole app can close. */

const org = { roles: [{ name: "dev", department: "eng" }], agents: [{ id: "d", role: "dev" }] }
const free = { permission: { level: "public" as const } }

test.each([
  [{ deny: "group:pay", because: "No money." }],
  [{ deny: "*", effect: "execute", because: "Nothing runs." }],
] as const)("a tool of a department does not escape what denies the one it hides: %j", async (denies) => {
  const system = await openTestApp({ org, rules: [denies] })
  const call = () => system.call({ agentId: "d", tool: "pay", input: {} })
  system.registry.register(tool({ name: "pay", group: "pay", effect: "execute", ...free, execute: () => "paid" }))
  expect(await call()).toMatchObject({ code: "tool_not_available" })
  const layer = "department:eng" as const
  system.registry.register(tool({ name: "pay", ...free, execute: () => "paid all the same" }), { layer })
  expect(await call()).toMatchObject({ code: "tool_not_available" })
  expect(system.visibleTools("d").map(({ name }) => name)).not.toContain("pay")
})

test("an older version is not called by who may not know of the one that is given, unless a person chose it", async () => {
  const agents = [...org.agents, { id: "held", role: "dev", pins: { wire: "1.0.0" } }]
  const system = await openTestApp({ org: { ...org, agents } })
  const boss = { level: "sensitive" as const, allowedRoles: ["boss"] }
  system.registry.registerMany([
    tool({ name: "wire", version: "1.0.0", ...free, execute: () => "old" }),
    tool({ name: "wire", version: "2.0.0", permission: boss, execute: () => "new" }),
  ])
  const call = (agentId: string, name: string) => system.call({ agentId, tool: name, input: {} })
  for (const name of ["wire", "wire@1.0.0", "wire@2.0.0"]) {
    expect(await call("d", name)).toMatchObject({ code: "tool_not_available" })
  }
  expect(await call("held", "wire")).toMatchObject({ result: "old" })
  expect(await call("held", "wire@1.0.0")).toMatchObject({ result: "old" })
})

test("a rule finds a tool by its wire name in whatever layer it is", async () => {
  const system = await openTestApp({ org, rules: [{ deny: "srv__wipe", because: "Nothing is wiped." }] })
  const layer = "department:eng" as const
  system.registry.register(tool({ name: "mcp:srv:wipe", ...free, execute: () => "wiped" }), { layer })
  expect(await system.call({ agentId: "d", tool: "srv__wipe", input: {} })).toMatchObject({
    code: "tool_not_available",
  })
  expect(system.rules.flaws()).toEqual([])
})

test("a path counts by where it leads, from the workspace of the app", async () => {
  const rules = [
    { allow: "put", touching: "write:/tmp/**", because: "There is nothing in it." },
    { deny: "put", touching: "file:/etc/**", because: "The machine's own." },
    { deny: "put", touching: "file:.env", because: "Secret." },
  ]
  const system = await openTestApp({ rules }, { workspace: "/tmp" })
  const input = z.object({ path: z.string() }) as never
  const touches = (({ path }: { path: string }) => [{ kind: "write", what: path }]) as never
  system.registry.register(tool({ name: "put", effect: "execute", input, touches, execute: () => "put" }))
  const verdictOf = async (path: string) =>
    (await system.why({ agentId: "operator", tool: "put", input: { path } })).verdict
  const all = [
    "/tmp/of-nobody-1",
    "of-nobody-2",
    "/tmp/../etc/passwd",
    "//etc/passwd",
    "../etc/x",
    "./x/../.env",
    "../var",
    "~/a",
  ]
  expect(await Promise.all(all.map(verdictOf))).toEqual([
    "allow",
    "allow",
    "deny",
    "deny",
    "deny",
    "deny",
    "deny",
    "deny",
  ])
})

test("a yes to the system's tool is none to that of a department, which came meanwhile", async () => {
  const system = await openTestApp({ org })
  const probe = (said: string) => tool({ name: "probe", effect: "execute", execute: () => said })
  system.registry.register(probe("system"))
  const { callId } = await leaveWaiting(system, { agentId: "d" })
  await system.approvals.answer(callId, { kind: "approve" }, "ann")
  system.registry.register(probe("department"), { layer: "department:eng" })
  expect(expectTicket(await system.resume(callId, { waitMs: 0 })).callId).toBe(callId)
  expect((await showPending(system, callId)).kind).toBe("call")
})

test("a remembered yes to create_role lasts when a group appears", async () => {
  const system = await openTestApp({ org })
  const create = (name: string) => ({ agentId: "d", tool: "create_role", input: { name, rolePrompt: "Help." } })
  const { callId } = await leaveWaiting(system, create("one"))
  await system.approvals.answer(callId, { kind: "approve", remember: "tool-always" }, "ann")
  expect(await system.resume(callId)).toMatchObject({ success: true })
  system.registry.register(tool({ name: "other", group: "new_group", execute: () => 1 }))
  expect(system.registry.require("create_role").description).toContain("new_group")
  expect(await system.call(create("two"), { waitMs: 0 })).toMatchObject({ success: true })
})

test("why says that ask_user waits for a person, as its call does", async () => {
  const system = await openTestApp()
  const request = { agentId: "operator", tool: "ask_user", input: { question: "Which?" } }
  const { verdict, reasons } = await system.why(request)
  expect([verdict, reasons[0]?.sentence]).toEqual(["ask", "Tool ask_user asks a person."])
  const item = await leaveWaiting(system, request)
  expect(item.reasons.map(({ sentence }) => sentence)).toEqual([reasons[0]?.sentence])
})
