import { expect, test } from "vitest"
import { openTestApp, tool } from "../../testing/test-app.ts"
import { knownHosts } from "./known-hosts.ts"

test("a host is known when a call of a network tool has reached it, and each look finds what came since", async () => {
  const app = await openTestApp({ rules: [{ allow: "reach", because: "the test" }] } as never)
  app.registry.register(
    tool({
      name: "reach",
      effect: "network",
      input: { type: "object", properties: { at: { type: "string" }, note: { type: "string" } } },
      touches: (input: unknown) => [{ kind: "host", what: (input as { at: string }).at }],
      execute: (input: unknown) => {
        if ((input as { at: string }).at.includes("broken")) throw new Error("It is down.")
        return "reached"
      },
    } as never),
  )
  const reach = (at: string) =>
    app.call({ agentId: "operator", tool: "reach", input: { at, note: "see https://only-named.example" } })
  let at = Date.now()
  const hosts = knownHosts(app.audit, app.findTool, () => at)
  await reach("https://one.example/a?b=c")
  await reach("https://broken.example/")
  await app.settle()
  expect([...(await hosts())]).toEqual(["one.example"])
  await reach("https://two.example/")
  await app.settle()
  at += 60_000
  expect([...(await hosts())]).toEqual(["one.example", "two.example"])
})
