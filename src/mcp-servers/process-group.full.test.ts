import { expect, test } from "vitest"
import { openConnection, isRunning, stubSpec } from "../testing/mcp/connections.ts"

test("a server that ignores TERM is killed after two seconds", async () => {
  const { connection } = openConnection(stubSpec({ stays: true, ignoreTerm: true }))
  await connection.ensureConnected()
  const { pid } = connection.state
  const from = Date.now()
  await connection.close()
  expect(isRunning(pid!)).toBe(false)
  const took = Date.now() - from
  expect(took).toBeGreaterThanOrEqual(2000)
})

test("servers beyond the limit are refused with a sentence, and one that ends makes room", async () => {
  const many = Array.from({ length: 64 }, (_, at) => openConnection(stubSpec({}, { name: `stub${at}` })).connection)
  for (const connection of many) await connection.ensureConnected()
  const { connection } = openConnection(stubSpec({}, { name: "last" }))
  await expect(connection.ensureConnected()).rejects.toMatchObject({
    message: expect.stringContaining("because 64 servers run already in this process") as string,
  })
  await many[0]!.close()
  await connection.ensureConnected()
})
