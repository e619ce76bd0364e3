import { expect, test } from "vitest"
import { z } from "zod"
import { failure } from "../../core/ending.ts"
import { openTestApp, tool } from "../../testing/test-app.ts"

const operator = { agentId: "operator", input: {} }

function broken(fallback: Parameters<typeof tool>[0]["fallback"] & {}, output?: z.ZodType) {
  return tool({
    name: "fragile",
    fallback,
    ...(output === undefined ? {} : { output: output as never }),
    execute: () => {
      throw failure("It broke.", { toolCode: "broke" })
    },
  })
}

test("a tool that fails is replaced by its first fallback that succeeds, each a call of its own", async () => {
  const system = await openTestApp()
  system.registry.register(
    broken([
      "also_broken",
      {
        tool: "sturdy",
        toInput: () => ({ text: "x" }),
        toResult: (result) => ({ told: (result as { said: string }).said }),
      },
    ]),
  )
  system.registry.register(
    tool({
      name: "also_broken",
      execute: () => {
        throw failure("That broke too.")
      },
    }),
  )
  system.registry.register(
    tool({
      name: "sturdy",
      input: z.object({ text: z.string() }) as never,
      execute: ({ text }: { text: string }) => ({ said: text }),
    }),
  )
  const result = await system.call({ ...operator, tool: "fragile" })
  expect(result).toMatchObject({ success: true, result: { told: "x" }, metadata: { fallback: "sturdy" } })
  await system.settle()
  const calls = []
  for await (const call of system.audit.export()) calls.push(call)
  expect(calls.map(({ tool: name, parentCallId, code }) => [name, parentCallId === result.callId, code])).toEqual(
    expect.arrayContaining([
      ["fragile", false, ""],
      ["also_broken", true, "tool_failed"],
      ["sturdy", true, ""],
    ]),
  )
})

test("a fallback that the agent may not use is skipped, and the tool's own failure is returned", async () => {
  const system = await openTestApp({ rules: [{ deny: "sturdy", because: "Not this one." }] })
  system.registry.register(broken(["sturdy"]))
  system.registry.register(tool({ name: "sturdy", execute: () => "ran" }))
  expect(await system.call({ ...operator, tool: "fragile" })).toMatchObject({
    code: "tool_failed",
    error: "It broke.",
    metadata: { toolCode: "broke" },
  })
})

test("a cancelled or refused call uses no fallback", async () => {
  const system = await openTestApp()
  let runs = 0
  system.registry.register(tool({ name: "sturdy", execute: () => ++runs }))
  system.registry.register(tool({ name: "slow", fallback: ["sturdy"], execute: () => new Promise(() => {}) }))
  const controller = new AbortController()
  const call = system.call({ ...operator, tool: "slow", signal: controller.signal })
  setTimeout(() => controller.abort(), 10)
  expect(await call).toMatchObject({ code: "aborted" })
  expect(await system.call({ ...operator, tool: "slow", input: { no: 1 } })).toMatchObject({
    code: "invalid_arguments",
  })
  expect(runs).toBe(0)
})

test("the result of a fallback must fit the tool's output schema", async () => {
  const system = await openTestApp()
  system.registry.register(broken(["sturdy"], z.object({ count: z.number() })))
  system.registry.register(tool({ name: "sturdy", execute: () => ({ count: "many" }) }))
  expect(await system.call({ ...operator, tool: "fragile" })).toMatchObject({ code: "output_invalid" })
})

test("the result of a fallback is not called streamed because the tool it replaces streamed", async () => {
  const app = await openTestApp()
  app.registry.register(
    tool({
      name: "fragile",
      fallback: ["sturdy"],
      output: z.object({ ok: z.boolean() }) as never,
      async *execute() {
        yield "not an object"
      },
    }),
  )
  app.registry.register(tool({ name: "sturdy", execute: () => ({ ok: true }) }))
  const { result, metadata } = await app.call({ ...operator, tool: "fragile" })
  expect(result).toEqual({ ok: true })
  expect(metadata).toEqual({ executionTime: expect.any(Number), fallback: "sturdy" })
})
