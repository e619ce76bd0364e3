import { expect, onTestFinished, test, vi } from "vitest"
import type { ModelTurn } from "../../../../agents/models/port.ts"
import { plainStyle } from "../../../../lib/terminal-style.ts"
import type { ToolResult } from "../../../../core/result.ts"
import { width } from "../../terminal/width.ts"
import { TurnView } from "./turn-view.ts"

/** A view, what it printed, and its callbacks. */
function open(columns = 80) {
  const printed: string[] = []
  const screen = { columns, print: (rows: readonly string[]) => void printed.push(...rows), draw() {} }
  const view = new TurnView(screen, plainStyle, () => {})
  const callbacks = view.callbacks as Required<TurnView["callbacks"]>
  return { view, printed, ...callbacks }
}

const turn = (calls: ModelTurn["calls"] = []): ModelTurn => ({
  text: "",
  reasoning: "",
  calls,
  content: [],
  describedCall: false,
  finishReason: "stop",
  usage: { inputTokens: 1, outputTokens: 1 },
  retries: 0,
})

const success: ToolResult = {
  callId: "c1",
  toolName: "read_file",
  version: "1.0.0",
  startedAt: 0,
  durationMs: 12,
  status: "success",
  success: true,
  result: "text",
}

test("text is printed row by row as it comes, and the row that is written is live", () => {
  const { view, printed, onLLMResponseUpdate, onLLMResponseComplete } = open()
  onLLMResponseUpdate("one\nt")
  expect([printed, view.rows()]).toEqual([["one"], ["t"]])
  onLLMResponseUpdate("one\ntwo")
  onLLMResponseComplete(turn())
  expect([printed, view.rows()]).toEqual([["one", "two"], []])
})

test("an answer that begins again says so", () => {
  const { printed, onLLMResponseUpdate } = open()
  onLLMResponseUpdate("The first\n")
  onLLMResponseUpdate("Again\n")
  expect(printed).toEqual(["The first", "The answer broke off. It begins again:", "Again"])
})

test("a thought is live while it comes; one row of it stays", () => {
  const { view, printed, onLLMResponsePart, onLLMResponseUpdate } = open(20)
  onLLMResponsePart({ type: "reasoning", block: "1", text: "I think about it\nfor a long time." })
  expect(view.rows().map(width)).toEqual([expect.any(Number)])
  expect(view.rows()[0]).toContain("long time.")
  onLLMResponseUpdate("Yes.\n")
  expect(printed).toEqual(["∴ I think about it…", "Yes."])
})

test("a call is live with the end of its output while it runs; its card stays, and text comes after a gap", () => {
  const { view, printed, onToolCallStart, onToolCallComplete, onLLMResponseUpdate } = open()
  onToolCallStart("read_file", { path: "a.txt" }, "1")
  view.callRuns({ callId: "c1", toolName: "read_file", params: { path: "a.txt" } })
  view.addOutput("c1", "one\ntwo\n")
  view.addOutput("c1", { stream: "stdout", text: "three\nfour\u001b[2J" })
  expect(view.rows()).toEqual(["○ read_file a.txt", "  │ two", "  │ three", "  │ four\\u{1b}[2J"])
  expect(view.doing.what).toBe("a call runs")
  onToolCallComplete(success, "1")
  onLLMResponseUpdate("Done.\n")
  expect(printed).toEqual(["● read_file a.txt … 12 ms, 4 characters", "", "Done."])
  expect(view.rows()).toEqual([])
})

test("the time of a call is that in which its tool runs, not that in which it waits for a person", () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { view, onToolCallStart } = open()
  onToolCallStart("send", { to: "a" }, "1")
  onToolCallStart("send", { to: "b" }, "2")
  vi.advanceTimersByTime(30_000)
  expect([view.rows(), view.doing]).toEqual([["○ send a", "○ send b"], { what: "calls wait", ms: 0 }])
  view.callRuns({ callId: "c2", toolName: "send", params: { to: "b" } })
  vi.advanceTimersByTime(2000)
  expect([view.rows(), view.doing]).toEqual([["○ send a", "○ send b 2.0 s"], { what: "a call runs", ms: 2000 }])
  view.callWaits("c2")
  vi.advanceTimersByTime(30_000)
  expect(view.rows()).toEqual(["○ send a", "○ send b"])
})

test("a call that was answered without being made is shown with the reason, once", () => {
  const { printed, onLLMResponseComplete, onBeforeSendToLLM } = open()
  const output = "NOT EXECUTED. The arguments are not JSON."
  onLLMResponseComplete(turn([{ id: "1", name: "send", malformed: { text: "{", sentence: "x" } }]))
  const message = { role: "tool" as const, content: [{ type: "tool-result" as const, id: "1", name: "send", output }] }
  void onBeforeSendToLLM([message])
  void onBeforeSendToLLM([message])
  expect(printed).toEqual(["⊘ send: The arguments are not JSON."])
})

test.each([40, 200])("no live row is wider than %i columns", (columns) => {
  const { view, onToolCallStart, onLLMResponsePart, onLLMResponseUpdate } = open(columns)
  onLLMResponsePart({ type: "reasoning", block: "1", text: "thinking ".repeat(50) })
  onToolCallStart("write_file", { path: "日本語".repeat(30) }, "1")
  view.addOutput("c1", `${"output ".repeat(50)}\n`)
  expect(Math.max(...view.rows().map(width))).toBeLessThan(columns)
  onLLMResponseUpdate("word ".repeat(3))
  expect(Math.max(...view.rows().map(width))).toBeLessThan(columns)
})

test("a picture that a tool took is told with its size and its artifact, without its bytes", () => {
  const { printed, onToolCallStart, onToolCallComplete } = open()
  const image = { mimeType: "image/jpeg", data: "QUJD" }
  onToolCallStart("chrome_screenshot", { tabId: "tab-1" }, "m1")
  onToolCallComplete({ ...success, result: { images: ["artifact:7"], width: 1280, height: 720, image } }, "m1")
  expect(printed.at(-1)).toBe("  ▣ picture, 1280 × 720 pixels: artifact:7")
  expect(printed.join("\n")).not.toContain("QUJD")
})

test("where the terminal can show a picture, it stands above its name", () => {
  const printed: string[] = []
  const screen = { columns: 60, print: (rows: readonly string[]) => void printed.push(...rows), draw() {} }
  const show = ({ data }: { data: string }, columns: number) => [`<${data} in ${columns}>`]
  const { onToolCallComplete } = new TurnView(screen, plainStyle, () => {}, show).callbacks
  onToolCallComplete?.({ ...success, result: { image: { mimeType: "image/jpeg", data: "QUJD" } } }, "m1")
  expect(printed.slice(-2)).toEqual(["<QUJD in 60>", "  ▣ picture"])
})

test("the card of a call that a person edited shows what ran", () => {
  const { printed, onToolCallStart, onToolCallComplete } = open()
  onToolCallStart("read_file", { path: "a.md" }, "1")
  onToolCallComplete({ ...success, ranInput: { path: "b.md" } }, "1")
  expect(printed).toEqual(["● read_file b.md (edited) … 12 ms, 4 characters"])
})
