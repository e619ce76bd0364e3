import { expect, test } from "vitest"
import { openTestApp, tool } from "../testing/test-app.ts"

async function appWithMaths() {
  const org = { roles: [{ name: "maths", toolGroups: ["maths"] }], agents: [{ id: "a", role: "maths" }] }
  const app = await openTestApp({ org })
  for (const name of ["add", "subtract"]) app.registry.register(tool({ name, group: "maths", execute: () => 0 }))
  const sent = (agentId: string, options: Parameters<typeof app.toolsFor>[1]) =>
    app.toolsFor(agentId, { ...options, format: "anthropic" }).map(({ name }) => name)
  return { app, sent }
}

test("toolsFor narrows to groups and to single tools, by any name a call may use", async () => {
  const { sent } = await appWithMaths()
  expect(sent("operator", { groups: ["maths"] })).toEqual(["add", "subtract"])
  expect(sent("operator", { tools: ["add"] })).toEqual(["add"])
  expect(sent("operator", { groups: ["maths"], tools: ["Read"] })).toEqual(["add", "read_file", "subtract"])
  expect(sent("operator", { groups: [] })).toEqual([])
  expect(sent("operator", {}).length).toBeGreaterThan(40)
})

test("toolsFor never shows a tool that the agent may not see", async () => {
  const { sent } = await appWithMaths()
  expect(sent("a", { groups: ["maths", "workspace"], tools: ["read_file", "no_such_tool"] })).toEqual([
    "add",
    "subtract",
  ])
})

test("toolsFor of an agent that never was throws, with the nearest name; one that has ended has no tools", async () => {
  const { app, sent } = await appWithMaths()
  expect(() => sent("operater", {})).toThrow(
    "There is no agent 'operater', so it has no tools. Did you mean 'operator'?",
  )
  expect(() => sent("nobody", {})).toThrow("'operator' is always there.")
  const { id } = await app.org.createAgent({ role: "maths" }, { kind: "person", id: "ann" })
  expect(sent(id, {})).toHaveLength(2)
  await app.org.terminateAgent(id, { kind: "person", id: "ann" })
  expect(sent(id, {})).toEqual([])
})

test("toolsFor of a group that there is not throws, with the nearest name; one without visible tools is empty", async () => {
  const { sent } = await appWithMaths()
  expect(() => sent("operator", { groups: ["data", "mats"] })).toThrow(
    "There is no group 'mats'. Did you mean 'maths'?",
  )
  expect(() => sent("operator", { groups: ["quite_another"] })).toThrow(
    /There is no group 'quite_another'\. There are: /,
  )
  expect(sent("a", { groups: ["workspace"] })).toEqual([])
})
