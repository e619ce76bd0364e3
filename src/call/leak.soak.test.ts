import { getEventListeners } from "node:events"
import { expect, test } from "vitest"
import type { ToolContext } from "../core/tool.ts"
import { openTestApp, tool } from "../testing/test-app.ts"

const resources = () =>
  process.getActiveResourcesInfo().filter((name) => name === "Timeout" || name === "Immediate").length

test("ten thousand calls, some cancelled, leave no listener, timer or handle", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ execute: () => Promise.resolve(1) }))
  system.registry.register(
    tool({
      name: "waits",
      execute: (_input, { signal }: ToolContext) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("told")), { once: true })),
    }),
  )
  const shared = new AbortController()
  const call = async (index: number) => {
    if (index % 10 !== 0) return system.call({ agentId: "operator", tool: "probe", input: {}, signal: shared.signal })
    const own = new AbortController()
    const result = system.call({ agentId: "operator", tool: "waits", input: {}, signal: own.signal })
    setImmediate(() => own.abort())
    return result
  }
  for (let index = 0; index < 200; index++) await call(index)
  const before = { resources: resources(), memory: process.memoryUsage().heapUsed }
  for (let batch = 0; batch < 100; batch++) {
    const results = await Promise.all(Array.from({ length: 100 }, (_, index) => call(index)))
    expect(results.filter((result) => result.success)).toHaveLength(90)
  }
  await system.settle()
  expect(getEventListeners(shared.signal, "abort")).toEqual([])
  expect(resources()).toBeLessThanOrEqual(before.resources + 2)
  expect(system.registry.getStats().callStats["probe"]?.count).toBe(9180)
})
