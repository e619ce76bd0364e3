import { expect, test } from "vitest"
import type { ToolResult } from "../../../core/result.ts"
import { callCard, callText, durationText, endingOf } from "./call-line.ts"
import { width } from "./width.ts"

const ended = { callId: "1", toolName: "t", version: "1.0.0", startedAt: 0, durationMs: 12 }
const success: ToolResult = { ...ended, status: "success", success: true, result: "x".repeat(340) }
const denied: ToolResult = {
  ...ended,
  status: "error",
  success: false,
  code: "permission_denied",
  error: "Rule 3 forbids\nit.",
}

test.each<[string, string, unknown, string]>([
  ["its first value without a name", "read_file", { path: "notes.md", limit: 5 }, "read_file notes.md limit=5"],
  ["nothing of its reason", "read_file", { _intent: "secret.md", path: "notes.md" }, "read_file notes.md"],
  ["other values as JSON", "add", { list: [1, 2] }, "add [1,2]"],
  ["nothing for no input", "current_time", {}, "current_time"],
  ["one line and no control characters", "say", { text: "a\n\u001b[31mb" }, "say a \\u{1b}[31mb"],
  ["nothing for an input that is none", "say", undefined, "say"],
])("a call is written with %s", (_what, tool, input, text) => {
  expect(callText(tool, input)).toBe(text)
})

test("a card has what was called and how it ended", () => {
  expect(callCard("read_file notes.md", endingOf(success), 80)).toEqual([
    "● read_file notes.md … 12 ms, 340 characters",
  ])
  expect(callCard("send", endingOf(denied), 80)).toEqual(["⊘ send: Rule 3 forbids it."])
  const ran: ToolResult = { ...denied, code: "tool_failed", error: "No.", metadata: { ran: true } }
  expect(callCard("send", endingOf(ran), 80)).toEqual(["✗ send: No."])
})

test.each([20, 40, 200])("no line of a card is wider than %i columns", (columns) => {
  const call = callText("write_file", { path: "notes/日本語.md", content: "words ".repeat(50) })
  for (const result of [success, { ...denied, error: "A long reason. ".repeat(20) } as ToolResult]) {
    const card = callCard(call, endingOf(result), columns)
    expect(Math.max(...card.map(width))).toBeLessThanOrEqual(columns)
    expect(card.length).toBeLessThanOrEqual(2)
  }
})

test.each([
  [12.4, "12 ms"],
  [3400, "3.4 s"],
  [125_000, "2 min 5 s"],
])("%d milliseconds are %s", (ms, text) => {
  expect(durationText(ms)).toBe(text)
})
