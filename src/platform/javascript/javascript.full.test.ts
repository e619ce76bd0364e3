import fc from "fast-check"
import { expect, test } from "vitest"
import { openJavaScript } from "./javascript.ts"

const { run } = openJavaScript()
const script = (code: string, input?: unknown) => ({ code, input, resultLimit: 200_000, timeoutMs: 5000 })

test("law: any JSON input is returned unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value))
      expect(await run(script("return input", plain))).toMatchObject({ result: plain })
    }),
    { numRuns: 40 },
  )
})

test("a script in its thread runs, fails with its log, and is stopped in time", async () => {
  expect(await run(script("console.log('x'); return input.n * 2", { n: 21 }))).toEqual({
    result: 42,
    logs: ["x"],
    logsDropped: 0,
  })
  await expect(run(script("console.log('x'); throw 1"))).rejects.toMatchObject({
    toolCode: "js_execution_failed",
    metadata: { logs: ["x"], logsDropped: 0 },
  })
  const endless = [
    "for (;;) {}",
    "for (;;) { try { for (;;) {} } catch {} }",
    "const f = () => Promise.resolve().then(f); await f()",
    "/^(a+)+$/.test('a'.repeat(40) + 'b')",
    "return { toJSON() { for (;;) {} } }",
  ]
  await Promise.all(
    endless.map((code) =>
      expect(run({ ...script(code), timeoutMs: 200 }), code).rejects.toMatchObject({ toolCode: "js_timeout" }),
    ),
  )
})
