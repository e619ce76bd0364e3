import fc from "fast-check"
import { expect, test } from "vitest"
import { openJavaScript } from "./javascript.ts"

test("law: any JSON goes in and comes out as it was", async () => {
  const { run } = openJavaScript()
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value))
      const script = { code: "return input", input: plain, resultLimit: 200_000, timeoutMs: 5000 }
      expect(await run(script)).toMatchObject({ result: plain })
    }),
    { numRuns: 100 },
  )
})
