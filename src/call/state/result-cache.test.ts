import { writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import type { ToolSpec } from "../../core/tool.ts"
import { openTestApp, temporaryFolder, tool, until } from "../../testing/test-app.ts"
import { LruResultCache } from "./result-cache.ts"

const operator = { agentId: "operator" }

/** A tool that counts its runs and reads nothing but what it says it reads. */
function counting(spec: Partial<ToolSpec<never>>) {
  let runs = 0
  return {
    runs: () => runs,
    tool: tool({
      input: z.object({ path: z.string().optional() }) as never,
      ...spec,
      execute: () => ({ run: ++runs }),
    }),
  }
}

test("a tool without the cache option is never answered from the cache", async () => {
  const system = await openTestApp()
  const one = counting({})
  system.registry.register(one.tool)
  await system.call({ ...operator, tool: "probe", input: {} })
  await system.call({ ...operator, tool: "probe", input: {} })
  expect(one.runs()).toBe(2)
})

test("a result is used again for the same input, and the call is decided, counted and recorded all the same", async () => {
  const system = await openTestApp({ rules: [{ deny: "probe", args: { "/path": "no" }, because: "It is forbidden." }] })
  const one = counting({
    cache: { ttlMs: 60_000 },
    permission: { level: "public", rateLimit: { maxCallsPerMinute: 3 } },
  })
  system.registry.register(one.tool)
  const call = (path: string) => system.call({ ...operator, tool: "probe", input: { path } })
  expect(await call("a")).toMatchObject({ success: true, result: { run: 1 } })
  const again = await call("a")
  expect(again).toMatchObject({ success: true, result: { run: 1 }, metadata: { cached: true } })
  expect(await call("no")).toMatchObject({ code: "permission_denied" })
  await call("b")
  expect(await call("a")).toMatchObject({ code: "rate_limited" })
  await system.settle()
  const kinds = (await system.audit.show(again.callId)).map(({ kind }) => kind)
  expect(kinds).toEqual(["start", "note", "end"])
})

test("another agent, another input or an expired one runs the tool again", async () => {
  const system = await openTestApp({ org: { agents: [{ id: "ada", role: "operator" }] } })
  const one = counting({ cache: { ttlMs: 1 } })
  system.registry.register(one.tool)
  await system.call({ ...operator, tool: "probe", input: {} })
  await system.call({ agentId: "ada", tool: "probe", input: {} })
  const storedAt = Date.now()
  await until(() => Date.now() > storedAt + 1, "what is stored has expired")
  await system.call({ ...operator, tool: "probe", input: {} })
  expect(one.runs()).toBe(3)
})

test("a result made of files is used again only while they are the same", async () => {
  const workspace = temporaryFolder()
  const file = join(workspace, "a.txt")
  writeFileSync(file, "one")
  const system = await openTestApp({}, { workspace })
  const one = counting({ effect: "read", cache: true, touches: () => [{ kind: "read", what: "a.txt" }] })
  system.registry.register(one.tool)
  const call = () => system.call({ ...operator, tool: "probe", input: {} })
  await call()
  await call()
  expect(one.runs()).toBe(1)
  writeFileSync(file, "two")
  await call()
  expect(one.runs()).toBe(2)
})

test("a result made of a folder is not cached, because the folder does not show changes inside it", async () => {
  const workspace = temporaryFolder()
  const system = await openTestApp({}, { workspace })
  const one = counting({ effect: "read", cache: true, touches: () => [{ kind: "read", what: "." }] })
  system.registry.register(one.tool)
  await system.call({ ...operator, tool: "probe", input: {} })
  await system.call({ ...operator, tool: "probe", input: {} })
  expect(one.runs()).toBe(2)
})

test("a tool with an effect that names no files is cached only with a time to live", async () => {
  const system = await openTestApp()
  const runs = []
  for (const [effect, cache] of [["read", true], ["network", true], ["none", true], ["read", { ttlMs: 60_000 }]] as const) {
    const one = counting({ name: `probe${runs.length}`, effect, cache, permission: { level: "public" } })
    system.registry.register(one.tool)
    for (let again = 0; again < 3; again++) await system.call({ ...operator, tool: one.tool.name, input: {} })
    runs.push(one.runs())
  }
  expect(runs).toEqual([3, 3, 1, 1])
}) // prettier-ignore

test("a failure is not cached", async () => {
  const system = await openTestApp()
  let runs = 0
  system.registry.register(
    tool({
      cache: { ttlMs: 60_000 },
      execute: () => {
        if (++runs === 1) throw new Error("Not yet.")
        return { run: runs }
      },
    }),
  )
  expect(await system.call({ ...operator, tool: "probe", input: {} })).toMatchObject({ code: "tool_failed" })
  expect(await system.call({ ...operator, tool: "probe", input: {} })).toMatchObject({ result: { run: 2 } })
})

test("the cache holds a limited number of the results used last, and callers cannot change them", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 2000 }), fc.boolean()), { maxLength: 60 }), (steps) => {
      const cache = new LruResultCache()
      const kept = new Map<string, number>()
      for (const [number, isSet] of steps) {
        const key = String(number)
        if (isSet) {
          cache.set(key, { number }, Infinity)
          kept.set(key, number)
          continue
        }
        const found = cache.get(key, 0) as { value: { number: number } } | undefined
        expect(found?.value.number).toBe(kept.get(key))
        if (found !== undefined) found.value.number = -1
      }
    }),
    { numRuns: 100 },
  )
  const cache = new LruResultCache()
  for (let at = 0; at < 1001; at++) cache.set(String(at), at, Infinity)
  expect(cache.get("0", 0)).toBeUndefined()
  expect(cache.get("1000", 0)).toEqual({ value: 1000 })
})
