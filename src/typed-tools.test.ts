import { resultOrThrow } from "./core/errors.ts"
import { describe, expect, expectTypeOf, it, test } from "vitest"
import { z } from "zod"
import { defineTool, fromFunction, isTicket, type ToolResult, type TypedTool } from "./index.ts"
import { openTestApp } from "./testing/test-app.ts"

const repeat = defineTool({
  name: "repeat",
  group: "texts",
  description: "Repeat a text.",
  effect: "none",
  input: z.object({ text: z.string(), times: z.number().default(2) }),
  execute: async ({ text, times }) => ({ whole: text.repeat(times) }),
})

async function appWithRepeat() {
  const app = await openTestApp()
  app.registry.register(repeat)
  return app
}

describe("a tool of defineTool", () => {
  it("knows the input it takes and the result it gives", () => {
    expectTypeOf(repeat).toEqualTypeOf<TypedTool<{ text: string; times?: number }, { whole: string }>>()
    const spec = { name: "t", group: "g", description: "d", input: z.object({}) }
    const promising = defineTool({ ...spec, output: z.object({ n: z.number() }), execute: () => ({ n: 1, more: 2 }) })
    expectTypeOf(promising).toExtend<TypedTool<object, { n: number }>>()
    const streaming = defineTool({
      ...spec,
      async *execute() {
        yield "a"
      },
    })
    expectTypeOf(streaming).toEqualTypeOf<TypedTool<Record<string, never>, string>>()
    const returning = defineTool({
      ...spec,
      async *execute() {
        yield "a"
        return 7
      },
    })
    expectTypeOf(returning).toEqualTypeOf<TypedTool<Record<string, never>, number>>()
    const untyped = defineTool({ ...spec, input: { type: "object" }, execute: () => 1 })
    expectTypeOf(untyped).toEqualTypeOf<TypedTool<unknown, number>>()
    const added = fromFunction(({ a }: { a: number }) => a + 1, { ...spec, input: z.object({ a: z.number() }) })
    expectTypeOf(added).toEqualTypeOf<TypedTool<{ a: number }, number>>()
  })

  it("is called by itself, with a typed input and a typed result", async () => {
    const app = await appWithRepeat()
    const ended = await app.call({ agentId: "operator", tool: repeat, input: { text: "ab" } })
    expectTypeOf(ended).toEqualTypeOf<ToolResult<{ whole: string }>>()
    if (ended.status !== "success") return expect.unreachable(ended.error)
    expectTypeOf(ended.result).toEqualTypeOf<{ whole: string }>()
    expect(ended.result.whole).toBe("abab")

    const thrown = app.call({ agentId: "operator", tool: repeat, input: { text: "c", times: 3 } }).then(resultOrThrow)
    expectTypeOf(thrown).resolves.toEqualTypeOf<{ whole: string }>()
    expect(await thrown).toEqual({ whole: "ccc" })
    const executed = app.executor("operator").execute(repeat, { text: "d" })
    expectTypeOf(executed).resolves.toEqualTypeOf<ToolResult<{ whole: string }>>()
    expect(await executed).toMatchObject({ toolName: "repeat", result: { whole: "dd" } })
    const submitted = await app.call({ agentId: "operator", tool: repeat, input: { text: "e" } }, { waitMs: 0 })
    if (!isTicket(submitted)) expectTypeOf(submitted).toExtend<ToolResult<{ whole: string }>>()
    expect(submitted).toMatchObject({ result: { whole: "ee" } })
  })

  it("refuses an input of another type when it is compiled", () => {
    type Input = Parameters<typeof call>[0]
    const call = (_input: { text: string; times?: number }) => repeat
    expectTypeOf<{ text: number }>().not.toExtend<Input>()
    expectTypeOf<NonNullable<(typeof repeat)["~types"]>["input"]>().toEqualTypeOf<Input>()
  })

  it("is typed after registration too", async () => {
    const app = await openTestApp()
    const registered = app.registry.register(repeat)
    const ended = await app.call({ agentId: "operator", tool: registered, input: { text: "f" } })
    expectTypeOf(ended).toEqualTypeOf<ToolResult<{ whole: string }>>()
    expect(ended).toMatchObject({ success: true, result: { whole: "ff" } })
  })

  it("called by its name is not typed", async () => {
    const app = await appWithRepeat()
    const ended = await app.call({ agentId: "operator", tool: "repeat", input: { text: 1 } })
    expectTypeOf(ended).toEqualTypeOf<ToolResult>()
    expect(ended.code).toBe("invalid_arguments")
  })
})

test("a result is told apart by its status", () => {
  const read = (ended: ToolResult<number>) => {
    switch (ended.status) {
      case "success":
        expectTypeOf(ended.result).toEqualTypeOf<number>()
        expectTypeOf(ended.code).toEqualTypeOf<undefined>()
        return ended.result
      case "not_found":
        expectTypeOf(ended.code).toEqualTypeOf<"unknown_tool">()
        return ended.error
      case "execution_rejected":
        expectTypeOf(ended.code).toEqualTypeOf<"approval_rejected" | "approval_expired">()
        return ended.rejectReason
      case "result_rejected":
        expectTypeOf(ended.code).toEqualTypeOf<"result_withheld">()
        expectTypeOf(ended.result).toEqualTypeOf<number | undefined>()
        return ended.error
      case "error":
        expectTypeOf(ended.error).toEqualTypeOf<string>()
        expectTypeOf(ended.result).toEqualTypeOf<undefined>()
        return ended.code
    }
  }
  const ids = { callId: "c", toolName: "t", version: "1", startedAt: 0 }
  expect(read({ ...ids, status: "success", success: true, result: 1 })).toBe(1)
  expectTypeOf<ToolResult["success"]>().toEqualTypeOf<boolean>()
})
