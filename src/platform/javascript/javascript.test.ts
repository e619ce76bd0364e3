import { expect, onTestFinished, test, vi } from "vitest"
import { evaluate } from "./evaluate.ts"
import { openJavaScript } from "./javascript.ts"

const { run } = openJavaScript()
const script = (code: string, input?: unknown) => ({ code, input, resultLimit: 200_000, timeoutMs: 5000 })

/** In the thread of the test, for the many cases that cannot harm it. */
async function here(code: string, input: unknown = null) {
  const outcome = await evaluate({ ...script(code), input: JSON.stringify(input) })
  return "json" in outcome ? { ...outcome, json: undefined, result: JSON.parse(outcome.json) as unknown } : outcome
}

const good: [string, string, unknown, unknown][] = [
  ["a body with return", "return input.n * 2", { n: 21 }, 42],
  ["an expression", "input.map((n) => n + 1)", [1, 2], [2, 3]],
  ["an object, which is not a block", "{ a: input }", 1, { a: 1 }],
  ["nothing", "const a = 1", null, null],
  ["what is awaited", "const a = await Promise.resolve(2); return a * (await (async () => 3)())", null, 6],
  ["a promise", "return Promise.all([1, Promise.resolve(2)])", null, [1, 2]],
  ["several lines with comments", "// first\nlet sum = 0\nfor (const n of input) sum += n // add\nreturn sum // done", [1, 2, 3], 6],
  ["characters of all kinds", "return input + '🎉'", "中文\u0000\n", "中文\u0000\n🎉"],
  ["no input", "return input", null, null],
  ["what JSON makes of it", "return { a: undefined, b: NaN, c: new Date(0), d: [undefined] }", null, { b: null, c: "1970-01-01T00:00:00.000Z", d: [null] }],
] // prettier-ignore

test.each(good)("a script returns %s", async (_what, code, input, result) => {
  expect(await here(code, input)).toMatchObject({ result, logs: [] })
})

const bad: [string, string, string, RegExp][] = [
  ["throws", "const a = 1\nthrow new TypeError('no ' + a)", "js_execution_failed", /^The code failed: TypeError: no 1 \(line 2\)\.$/],
  ["is no JavaScript", "return (", "js_execution_failed", /SyntaxError/],
  ["rejects", "return Promise.reject('later')", "js_execution_failed", /failed: later\./],
  ["throws something odd", "throw { toString() { throw 1 } }", "js_execution_failed", /cannot be shown/],
  ["waits for ever", "await new Promise(() => {})", "js_execution_failed", /never settles/],
  ["recurses without end", "const f = () => f() + 1; return f()", "js_execution_failed", /stack overflow|Maximum/],
  ["takes all memory", "'x'.repeat(1e8)", "js_out_of_memory", /64 MB/],
  ["returns a function", "return () => 1", "non_json_serializable_return", /function is not JSON/],
  ["returns a symbol", "return Symbol('x')", "non_json_serializable_return", /symbol/],
  ["returns a number too large", "return 10n", "non_json_serializable_return", /cannot be written as JSON/],
  ["returns a circle", "const a = {}; a.a = a; return a", "non_json_serializable_return", /circular/],
  ["returns too much", "return 'x'.repeat(200000)", "result_too_large", /200002 characters/],
] // prettier-ignore

test.each(bad)("a script that %s ends with a sentence", async (_what, code, toolCode, sentence) => {
  expect(await here(code)).toMatchObject({ toolCode, sentence: expect.stringMatching(sentence) as string })
})

test("a script can use the language and a console, and nothing of ours", async () => {
  const names = "return Object.getOwnPropertyNames(globalThis)"
  const { result } = (await here(names)) as { result: string[] }
  for (const name of [
    "process",
    "require",
    "fetch",
    "WebAssembly",
    "setTimeout",
    "Buffer",
    "importScripts",
    "Deno",
    "std",
    "os",
  ]) {
    expect(result).not.toContain(name)
  }
  expect(result).toContain("console")
  const imports = ["await import('node:fs')", "await import('fs')", "await import('./x.js')"]
  for (const code of imports) expect(await here(`return ${code}`)).toMatchObject({ toolCode: "js_execution_failed" })
  const escapes = ["this.constructor.constructor('return process')()", "console.log.constructor('return process')()"]
  for (const code of escapes) {
    expect(await here(`return ${code}`)).toMatchObject({
      sentence: expect.stringContaining("ReferenceError") as string,
    })
  }
})

test("a script that changes built-ins affects only itself", async () => {
  const code =
    "JSON.stringify = () => 'x'; JSON.parse = 1; String.prototype.split = 2; Array.prototype.map = undefined; console.log({ a: 1 }); return [1]"
  // It has taken `map` from its own console, and nothing else.
  expect(await here(code.replace("Array.prototype.map = undefined;", ""))).toMatchObject({
    result: [1],
    logs: ['{"a":1}'],
  })
  expect(await here("return [1].map((n) => n)")).toMatchObject({ result: [1] })
})

test("console lines are kept up to a limit, and the rest is counted", async () => {
  const code =
    "console.log('a', 1, { b: [2] }, undefined); console.error(new Error('bad')); console.warn('w'); return 1"
  expect(await here(code)).toMatchObject({
    logs: ['a 1 {"b":[2]} undefined', "error: Error: bad", "warn: w"],
    logsDropped: 0,
  })
  const many = await here("for (let n = 0; n < 1500; n++) console.log(n); console.log('x'.repeat(100001)); return 1")
  expect(many.logs).toHaveLength(1000)
  expect(many.logsDropped).toBe(501)
})

test("the start of the engine does not count as the script's time", async () => {
  vi.useFakeTimers({ toFake: ["Date"] })
  onTestFinished(() => void vi.useRealTimers())
  const running = here("return 1")
  vi.setSystemTime(Date.now() + 3_600_000)
  expect(await running).toMatchObject({ result: 1 })
})

test("an aborted script is stopped immediately", async () => {
  const controller = new AbortController()
  const running = run({ ...script("for (;;) {}"), signal: controller.signal })
  setTimeout(() => controller.abort(), 50)
  await expect(running).rejects.toMatchObject({ toolCode: "js_stopped" })
  await expect(run({ ...script("1"), signal: controller.signal })).rejects.toThrow("stopped")
})
