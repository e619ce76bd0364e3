import { expect, test } from "vitest"
import { z } from "zod"
import { openTestApp, tool, until } from "../testing/test-app.ts"

const org = {
  roles: [{ name: "worker", toolGroups: ["test"] }],
  agents: [
    { id: "ada", role: "worker" },
    { id: "bob", role: "worker" },
  ],
}

async function open() {
  const app = await openTestApp({ org, approvals: { maxWaiting: 3 } })
  const input = z.object({ n: z.number() })
  let ran = 0
  app.registry.registerMany([
    tool({ name: "send", effect: "communicate", input, execute: () => "sent" } as never),
    tool({
      name: "leak",
      effect: "read",
      input,
      permission: { requireResultApproval: "always" },
      execute: () => ++ran,
    } as never),
  ])
  const call = (agentId: string, name: string, n: number) => app.call({ agentId, tool: name, input: { n } })
  return { app, call, ran: () => ran }
}

test("of many calls that an agent makes at once only approvals.maxWaiting wait, and the rest are refused", async () => {
  const { app, call } = await open()
  const made = Array.from({ length: 30 }, (_, n) => call("ada", "send", n))
  const codes: unknown[] = []
  for (const each of made) void each.then(({ code }) => codes.push(code))
  await until(() => codes.length === 27, "27 calls were refused")
  expect(new Set(codes)).toEqual(new Set(["rate_limited"]))
  expect(await app.approvals.count()).toEqual({ call: 3, result: 0, question: 0 })
  expect((await call("ada", "send", 99)).error).toContain("(approvals.maxWaiting). Call again when some of them")

  // The same call joins the one that waits, another agent has its own three, and an answer makes room.
  const [first] = await app.approvals.list()
  const again = call("ada", "send", (first!.input as { n: number }).n)
  const others = call("bob", "send", 1)
  await until(async () => (await app.approvals.count({ agentId: "bob" })).call === 1, "bob's call waits")
  await app.approvals.answer(first!.callId, { kind: "approve" }, "ann")
  expect((await again).status).toBe("success")
  const next = call("ada", "send", 100)
  await until(async () => (await app.approvals.count({ agentId: "ada" })).call === 3, "there was room")
  await app.close()
  await Promise.all([...made, others, next])
})

test("a call whose result would be held does not run where there is no room for it", async () => {
  const { app, call, ran } = await open()
  const held = [1, 2, 3].map((n) => call("ada", "leak", n))
  await until(async () => (await app.approvals.count()).result === 3, "three results are held")
  expect(await call("ada", "leak", 4)).toMatchObject({ code: "rate_limited" })
  expect(ran()).toBe(3)
  await app.close()
  await Promise.all(held)
})
