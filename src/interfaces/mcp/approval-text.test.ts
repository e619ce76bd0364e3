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
  ["a command", "run_command", { command: "rm -r build" }, "High risk (deletes, writes, executes): Run a command", "run_command: rm -r build"],
  ["every line of a command", "run_command", { command: "ls\n  rm a" }, "High risk (deletes, executes): Run 2 commands", "run_command: ls ⏎ rm a"],
  ["a difference", "write_file", { path: "a.txt", content: "one\ntwo\n" }, "Medium risk (writes): Change a.txt", "write_file: a.txt ⏎ +one ⏎ +two"],
  ["an input", "probe", { text: "one\ntwo" }, "Low risk: Call probe", String.raw`probe: {"text":"one\ntwo"}`],
])("the risk of %s is on the first line of a form, what would run on the second, and who asks why on the third", async (_, name, input, risk, what) => {
  const lines = await linesFor(name, input)
  expect(lines.slice(0, 2)).toEqual([risk, what])
  expect(lines[2]).toMatch(new RegExp(`^Agent operator \\(operator\\) wants to call ${name}\\. Why you are asked: .`))
}) // prettier-ignore

test("a line that is too long is cut and says so, and the whole follows", async () => {
  const text = "a".repeat(2000)
  const lines = await linesFor("probe", { text })
  expect(lines[1]).toMatch(/^probe: .{500} … \[goes on below\]$/)
  expect(lines.join("\n")).toContain(text)
})
