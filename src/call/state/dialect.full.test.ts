import fc from "fast-check"
import { expect, test } from "vitest"
import { openWithDialects } from "../testing/dialect.ts"

test("an alias is decided, limited and recorded as its tool", async () => {
  const system = await openWithDialects({
    rules: [
      { deny: "Greet", args: { "/name": "eve" }, because: "Eve is not greeted." },
      { ask: "greet", args: { "/name": "root" }, because: "Root is greeted with care." },
    ],
    approvals: { unattended: "reject" },
    tools: { permissions: { greet: { rateLimit: { maxCallsPerMinute: 1000 } } } },
  })
  const names = fc.constantFrom("eve", "root", "ada", "bob")
  const calls = fc.constantFrom(
    { agentId: "native", tool: "greet", key: "name" },
    { agentId: "native", tool: "Greet", key: "who" },
    { agentId: "classic", tool: "greet", key: "person" },
    { agentId: "claude", tool: "Greet", key: "who" },
  )
  await fc.assert(
    fc.asyncProperty(names, calls, async (name, { agentId, tool: called, key }) => {
      const result = await system.call({ agentId, tool: called, input: { [key]: name } })
      const wanted = ({ eve: "permission_denied", root: "approval_rejected" } as Record<string, string>)[name]
      expect(result.code).toBe(wanted)
      const why = await system.why({ agentId, tool: called, input: { [key]: name } })
      expect([why.tool, why.verdict]).toEqual(["greet", name === "eve" ? "deny" : name === "root" ? "ask" : "allow"])
      await system.settle()
      const [last] = (await system.audit.show(result.callId)).slice(-1)
      expect(last).toMatchObject({ tool: "greet" })
      const first = (await system.audit.show(result.callId)).find(
        (entry) => "input" in entry && entry.input !== undefined,
      )
      expect(JSON.parse((first as { input: string }).input)).toMatchObject({ name })
    }),
    { numRuns: 100 },
  )
})
