import { expect, test } from "vitest"
import { requestContext, openConnection, stubSpec, textOf } from "../testing/mcp/connections.ts"

test("lines that are not messages are ignored", async () => {
  const { connection } = openConnection(stubSpec())
  expect(textOf(await connection.callTool("broken", {}, requestContext()))).toBe("still here")
})
