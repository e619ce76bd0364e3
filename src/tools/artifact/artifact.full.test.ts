import fc from "fast-check"
import { expect, test } from "vitest"
import { openTestApp } from "../../testing/test-app.ts"
import { team, put, get } from "./testing/artifact.ts"

test("law: any bytes, and any text, come back as they were put", async () => {
  const system = await openTestApp(team)
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), fc.string({ unit: "binary" }), async (bytes, text) => {
      const content = Buffer.from(bytes).toString("base64")
      const given = [
        { type: "bytes", content, encoding: "base64" },
        { type: "text", content: text },
      ]
      const found = await Promise.all(given.map(async (one) => get(system, await put(system, one))))
      expect(found).toMatchObject([
        { content, isBinary: true },
        { content: text, isBinary: false },
      ])
    }),
    { numRuns: 100 },
  )
})
