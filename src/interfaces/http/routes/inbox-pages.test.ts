import { expect, test } from "vitest"
import { z } from "zod"
import { tool, until } from "../../../testing/test-app.ts"
import { serveAppForTest } from "../testing.ts"
import type { Card } from "../../../approvals/card/schema.ts"

const agents = ["ada", "bob", "cid"]
const config = {
  approvals: { maxWaiting: 100 },
  org: { roles: [{ name: "worker", toolGroups: ["test"] }], agents: agents.map((id) => ({ id, role: "worker" })) },
}

test("what waits comes in pages, long contents only with the card, and counts are of everything", async () => {
  const { app, ask } = await serveAppForTest(config)
  const input = z.object({ n: z.number(), text: z.string().optional() })
  app.registry.register(tool({ name: "send", effect: "communicate", input, execute: () => "sent" } as never))
  const long = "x".repeat(20_000)
  const made = agents.flatMap((agentId) =>
    Array.from({ length: 68 }, (_, n) =>
      app.call({ agentId, tool: "send", input: n === 0 ? { n, text: long } : { n } }),
    ),
  )
  await until(async () => (await app.approvals.count()).call === 204, "all wait")
  const { token } = await app.org.createPerson({ id: "pat" }, { kind: "person", id: "ann" })
  const get = async (path: string) => {
    const { text } = await ask({ method: "GET", path, headers: { authorization: `Bearer ${token}` } })
    return JSON.parse(text) as { items: Card[]; total: number; cursor?: string; waiting: number }
  }

  const first = await get("/v1/approvals")
  const second = await get(`/v1/approvals?cursor=${encodeURIComponent(first.cursor!)}`)
  expect([first.items.length, second.items.length, first.total, second.cursor]).toEqual([200, 4, 204, undefined])
  expect(new Set([...first.items, ...second.items].map(({ callId }) => callId)).size).toBe(204)
  const shortened = [...first.items, ...second.items].filter(({ isShortened }) => isShortened)
  expect(shortened).toHaveLength(3)
  expect(JSON.stringify([first, second])).not.toContain(long)
  expect(await get(`/v1/approvals/${shortened[0]!.callId}`)).toMatchObject({ input: { text: long } })
  expect((await get("/v1/me")).waiting).toBe(204)
  await app.close()
  await Promise.all(made)
})
