import type { ServerContext } from "@modelcontextprotocol/server"
import { expect, test } from "vitest"
import { teller } from "./tell.ts"

/** A client that is told everything at once and never says that it has read it. */
function listening() {
  const told: { method: string; params: Record<string, unknown> }[] = []
  const notify = async (note: (typeof told)[number]) => void told.push(note)
  const context = { mcpReq: { notify, _meta: { progressToken: 1 } } } as unknown as ServerContext
  return { told, tell: teller(context, "legacy", "debug") }
}

test("a log of a server is cut to what a client may be sent, and a small one passed on as it is", () => {
  const { told, tell } = listening()
  tell.output({ log: { level: "info", logger: "x".repeat(1000), data: { text: "y".repeat(1_000_000) } } })
  tell.output({ log: { level: "warning", data: { a: [1] } } })
  expect(JSON.stringify(told[0]).length).toBeLessThan(17_000)
  expect(told[0]?.params["data"]).toMatch(/\[cut\]$/)
  expect(told[1]?.params).toEqual({ level: "warning", data: { a: [1] } })
})

test("however much a call says, what is told of it has an end", async () => {
  const { told, tell } = listening()
  for (let index = 0; index < 3000; index++) {
    tell.output({ log: { level: "info", data: "z".repeat(15_000) } })
    await Promise.resolve()
  }
  expect(JSON.stringify(told).length).toBeLessThan(18 * 1024 * 1024)
})
