import { expect, test } from "vitest"
import { z } from "zod"
import { openTestApp, tool } from "../../testing/test-app.ts"
import { answeringClient, connectClient, openEndpoint } from "./testing.ts"

/** The lines of the form that a client is shown for a call. */
async function linesFor(name: string, input: Record<string, unknown>): Promise<string[]> {
  const app = await openTestApp()
  app.registry.register(
    tool({ permission: { level: "sensitive" }, input: z.object({ text: z.string() }) as never, execute: () => 1 }),
  )
  let message = ""
  const person = answeringClient((params) => {
    message = String(params["message"])
    return { action: "decline" }
  })
  const { client } = await connectClient(openEndpoint(app), "legacy", { person: "ann" }, person)
  await client.callTool({ name, arguments: input })
  return message.split("\n")
}

test.each([
  ["a command", "run_command", { command: "rm -r build" }, "run_command: rm -r build"],
  ["every line of a command", "run_command", { command: "ls\n  rm a" }, "run_command: ls ⏎ rm a"],
  ["a difference", "write_file", { path: "a.txt", content: "one\ntwo\n" }, "write_file: a.txt ⏎ +one ⏎ +two"],
  ["an input", "probe", { text: "one\ntwo" }, String.raw`probe: {"text":"one\ntwo"}`],
])("%s is on the first line of a form, and who asks why on the second", async (_, name, input, first) => {
  const lines = await linesFor(name, input)
  expect(lines[0]).toBe(first)
  expect(lines[1]).toMatch(new RegExp(`^Agent operator \\(operator\\) wants to call ${name}\\. Why you are asked: .`))
})

test("a first line that is too long is cut and says so, and the whole follows", async () => {
  const text = "a".repeat(2000)
  const lines = await linesFor("probe", { text })
  expect(lines[0]).toMatch(/^probe: .{500} … \[goes on below\]$/)
  expect(lines.join("\n")).toContain(text)
})
