import { expect, test, vi } from "vitest"
import type { ToolContext } from "../../core/tool.ts"
import { openTestApp } from "../../testing/test-app.ts"
import { consolePrint } from "./console-print.ts"

test("console_print shows the text to the person who runs the agent, without approval", async () => {
  const shown: string[] = []
  const system = await openTestApp({ approvals: { unattended: "reject" } }, { print: (text) => shown.push(text) })
  const texts = ["hello", "", "两行\n🎉", "x".repeat(100_000)]
  for (const text of texts) {
    expect(await system.call({ agentId: "operator", tool: "console_print", input: { text } })).toMatchObject({
      result: { ok: true },
    })
  }
  expect(shown).toEqual(texts)
})

test("the group console has console_print", async () => {
  const system = await openTestApp({ language: "zh" })
  expect(system.listGroups().find(({ id }) => id === "console")).toMatchObject({
    description: "控制台工具",
    tools: ["console_print"],
    isReserved: true,
  })
})

test("without a way to show it, the text goes to stderr and leaves stdout alone", async () => {
  const system = await openTestApp()
  const written: unknown[] = []
  const stderr = vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(text) > 0)
  const stdout = vi.spyOn(process.stdout, "write")
  try {
    await system.call({ agentId: "operator", tool: "console_print", input: { text: "hello" } })
    expect(written).toEqual(["hello\n"])
    expect(stdout).not.toHaveBeenCalled()
  } finally {
    stderr.mockRestore()
    stdout.mockRestore()
  }
})

test("a text that cannot be shown is a failure of the tool", async () => {
  const print = () => {
    throw new Error("The terminal is gone.")
  }
  const system = await openTestApp({}, { print })
  expect(await system.call({ agentId: "operator", tool: "console_print", input: { text: "hello" } })).toMatchObject({
    code: "tool_failed",
    error: "The terminal is gone.",
  })
})

test("console_print takes a text and nothing else", async () => {
  const system = await openTestApp({}, { print: () => {} })
  for (const input of [{}, { text: 1 }, { text: ["a"] }, { text: "a", color: "red" }, "a"]) {
    expect(await system.call({ agentId: "operator", tool: "console_print", input })).toMatchObject({
      code: "invalid_arguments",
    })
  }
})

test("console_print runs without the app, with a minimal context", () => {
  const shown: string[] = []
  expect(consolePrint((text) => shown.push(text)).execute({ text: "hi" }, { taskId: "t1" } as ToolContext)).toEqual({
    ok: true,
  })
  expect(shown).toEqual(["hi"])
})
