import { expect, test } from "vitest"
import { openTestApp } from "../../testing/test-app.ts"

test("a tool that a rule denies is said to be denied by a rule, not by the role", async () => {
  const app = await openTestApp({ rules: [{ deny: "sleep", because: "Nobody waits here" }] })
  const denied = await app.call({ agentId: "operator", tool: "sleep", input: { ms: 1 } })
  expect(denied).toMatchObject({
    code: "tool_not_available",
    error: "Tool sleep is not available: A rule denies it: Nobody waits here.",
  })
})

test("a path outside is refused once, with one advice", async () => {
  const app = await openTestApp({})
  const { error = "" } = await app.call({ agentId: "operator", tool: "read_file", input: { path: "/etc/passwd" } })
  expect(error).toMatch(/Access denied: Path is outside workspace directory \('\/etc\/passwd'\)\./)
  expect(error.match(/outside/g)).toHaveLength(1)
  expect(error.match(/ask a person/g)).toHaveLength(1)
})

test.each([
  ["oprator", " Did you mean agent 'operator'?"],
  ["somebody-else", ""],
])(
  "a call of the agent %s, which there is not, is refused with the nearest name, if one is near",
  async (agentId, hint) => {
    const app = await openTestApp()
    const { code, error = "" } = await app.call({ agentId, tool: "current_time", input: {} })
    expect(code).toBe("tool_not_available")
    expect(error.endsWith(`A person creates agents with 'qm agents create'.${hint}`)).toBe(true)
  },
)
