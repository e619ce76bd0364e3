import { resultOrThrow } from "../../core/errors.ts"
import { expect, test } from "vitest"
import type { Config } from "../../config/schema.ts"
import { fromModule } from "../../registry/adapters.ts"
import { openTestApp } from "../../testing/test-app.ts"

// In the whole app: what a model is sent, and how a call ends that the model should not make.

const alone: Config = { approvals: { unattended: "reject" } }

const taskBrief = { objective: "x", constraints: [], inputs: "x", outputs: "x", completion_criteria: "x" }

const clock = {
  name: "clock",
  toolGroupDescription: "Clock tools",
  getToolDefinitions: () => [
    {
      type: "function" as const,
      function: { name: "clock_now", description: "Tell the time.", parameters: { type: "object", properties: {} } },
    },
  ],
  executeToolCall: () => ({ now: 1 }),
}

async function openSociety(config: Config = {}) {
  const system = await openTestApp({ ...alone, ...config })
  const root = <T = Record<string, string>>(tool: string, input: unknown) =>
    system.call({ agentId: "root", tool, input }).then(resultOrThrow) as Promise<T>
  const spawn = async (name: string, toolGroups?: string[]) => {
    const { id: roleId } = await root("create_role", { name, rolePrompt: "x", ...(toolGroups && { toolGroups }) })
    return (await root("spawn_agent", { roleId, taskBrief }))["id"]!
  }
  const sent = (agentId: string) => system.toolsFor(agentId).map((definition) => definition.function.name)
  return { system, root, spawn, sent }
}

test("an agent that root spawned with the group command has run_command, unless the configuration names roles", async () => {
  const open = await openSociety()
  expect(open.sent(await open.spawn("worker", ["command"]))).toContain("run_command")
  const permissions = { run_command: { allowedRoles: ["developer", "devops", "architect"] } }
  const limited = await openSociety({ tools: { permissions } })
  expect(limited.sent(await limited.spawn("worker", ["command"]))).not.toContain("run_command")
})

test("an agent whose role has an empty list of groups is sent nothing and can call nothing", async () => {
  const { system, spawn, sent } = await openSociety()
  const id = await spawn("idle", [])
  expect(sent(id)).toEqual([])
  expect(await system.call({ agentId: id, tool: "json_parse", input: { text: "1" } })).toMatchObject({
    code: "tool_not_available",
  })
})

test("a group that is unregistered takes its tools away from agents with all groups too", async () => {
  const { system, spawn, sent } = await openSociety()
  const agents = ["operator", await spawn("anything"), await spawn("timed", ["data"])]
  const [shared] = fromModule(clock)
  system.registry.register(shared!)
  system.registry.register({ ...shared!, name: "own_clock" }, { layer: "agent:operator" })
  const clocks = () => agents.map((id) => sent(id).filter((name) => name.includes("clock")))
  expect(clocks()).toEqual([["clock_now", "own_clock"], ["clock_now"], []])
  expect(system.groups.unregisterGroup("clock")).toEqual({ ok: true })
  expect(clocks()).toEqual([[], [], []])
  for (const tool of ["clock_now", "own_clock"])
    expect(await system.call({ agentId: "operator", tool, input: {} })).toMatchObject({ code: "tool_not_available" })
  const { reasons } = await system.why({ agentId: "operator", tool: "clock_now", input: {} })
  expect(reasons).toMatchObject([{ code: "group_not_registered" }])
  system.registry.register(shared!, { replace: true })
  expect(clocks()).toEqual([["clock_now", "own_clock"], ["clock_now"], []])
})

test("an agent that root spawned is sent and can call its role's tools only", async () => {
  const { system, spawn, sent } = await openSociety()
  const id = await spawn("parser", ["data"])
  expect(sent(id)).toEqual(["base64_decode", "base64_encode", "json_parse", "json_stringify"])
  const call = (tool: string, input: unknown, agentId = id) => system.call({ agentId, tool, input })
  expect(await call("json_parse", { text: "1" })).toMatchObject({ result: { data: 1 } })
  for (const [tool, agentId] of [
    ["current_time", id],
    ["create_role", id],
    ["json_parse", "root"],
  ] as const) {
    expect(await call(tool, {}, agentId)).toMatchObject({
      code: "tool_not_available",
      error: expect.stringContaining(tool),
    })
  }
  expect(sent("root")).toEqual([
    "create_role",
    "find_role_by_name",
    "send_message",
    "spawn_agent",
    "spawn_agent_with_task",
    "terminate_agent",
  ])
})

test("an agent whose role names no groups has the tools of all of them", async () => {
  const { spawn, sent } = await openSociety()
  expect(sent(await spawn("anything"))).toEqual(sent("operator"))
})

test("who was terminated, and who was never there, is sent nothing and can call nothing", async () => {
  const { system, root, spawn, sent } = await openSociety()
  const id = await spawn("parser", ["data"])
  expect(await root("terminate_agent", { agentId: id })).toEqual({ ok: true, terminatedAgentId: id })
  const roleless = await spawn("short", ["data"])
  await system.org.deleteRole("short", { kind: "person", id: "ann" })
  for (const agentId of [id, roleless, "nobody"]) {
    if (agentId === "nobody") expect(() => sent(agentId)).toThrow("There is no agent 'nobody'")
    else expect(sent(agentId)).toEqual([])
    const ended = await system.call({ agentId, tool: "json_parse", input: { text: "1" } })
    expect(ended).toMatchObject({ code: "tool_not_available" })
  }
})

test("create_role is shown to a model with the groups there are at that moment", async () => {
  const { system, root } = await openSociety()
  const shown = () => system.toolsFor("root").find((one) => one.function.name === "create_role")!.function.description
  expect(shown()).toContain("Choose the tool groups")
  expect(shown()).toContain("data (JSON and Base64)")
  expect(shown()).not.toContain("clock")
  system.registry.registerMany(fromModule(clock, { effect: "none" }))
  expect(shown()).toContain("clock")
  expect(await root("create_role", { name: "timer", rolePrompt: "x", toolGroups: ["clock"] })).toMatchObject({
    toolGroups: ["clock"],
  })
})

test("an agent of root organises within what it has: its child sees no more, and asks a person where root does not", async () => {
  const { system, spawn } = await openSociety({ approvals: { unattended: "reject" } })
  const id = await spawn("lead", ["org_management", "data"])
  const ended = await system.call({ agentId: id, tool: "create_role", input: { name: "x", rolePrompt: "x" } })
  expect(ended).toMatchObject({ status: "execution_rejected" })
  const lead = { kind: "agent", id } as const
  const { role } = await system.org.createRole({ name: "helper" }, lead)
  const child = await system.org.createAgent({ role: role.id }, lead)
  expect(system.visibleTools(child.id)).toEqual(system.visibleTools(id))
})

test("the organisation is there after a restart, with its messages", async () => {
  const { system, root, spawn } = await openSociety()
  const id = await spawn("parser", ["data", "system"])
  const { messageId } = await root("send_message", { to: id, payload: { 你: "好" } })
  const [role, agent] = [system.org.findRole("parser"), system.org.findAgent(id)]
  await system.close()
  const again = await openTestApp({ ...alone, data: { dir: system.dir } })
  expect([again.org.findRole("parser"), again.org.findAgent(id)]).toEqual([role, agent])
  expect(await again.org.inbox(id)).toMatchObject([{ id: messageId, from: "root", payload: { 你: "好" } }])
  expect(again.visibleTools(id).map(({ group }) => group)).toEqual(expect.arrayContaining(["data", "system"]))
})
