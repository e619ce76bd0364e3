import { expect, test } from "vitest"
import { plainStyle as paint } from "../../../../lib/terminal-style.ts"
import { width } from "../../terminal/width.ts"
import { lineOf } from "../../../../lib/line-editor.ts"
import { liveRows, type LiveState } from "./live-rows.ts"

const idle: LiveState = {
  line: lineOf(""),
  turn: [],
  queued: [],
  waiting: undefined,
  busy: undefined,
  leavesNext: false,
}
const terminal = { columns: 80, height: 24, paint }

test.each<[string, Partial<LiveState>, string[]]>([
  ["idle", {}, ["", "› "]],
  ["working", { busy: { doing: "thinking", ms: 3200 } }, ["", "⠦ thinking 3s · Ctrl-C stops it", "› "]],
  [
    "with a text that is queued",
    { busy: { doing: "thinking", ms: 0 }, queued: ["be\nquick"] },
    ["↳ queued: be quick", "", "⠋ thinking · Ctrl-C stops it", "› "],
  ],
  [
    "with a card at an empty line",
    { busy: { doing: "x", ms: 0 }, waiting: "send needs your approval" },
    ["", "◆ send needs your approval · Enter shows it", "› "],
  ],
  [
    "with a card that a text holds back",
    { busy: { doing: "x", ms: 0 }, waiting: "send needs your approval", line: lineOf("a") },
    ["", "◆ send needs your approval · send or clear your text to see it", "› a"],
  ],
  ["before leaving", { leavesNext: true }, ["", "› ", "Press Ctrl-C again to leave."]],
])("%s", (_what, state, rows) => {
  expect(liveRows({ ...idle, ...state }, terminal).rows).toEqual(rows)
})

test("of a long call that runs, its time and the key that stops it stay in sight", () => {
  const busy = { doing: "run_command ".repeat(20), ms: 2000 }
  expect(liveRows({ ...idle, busy }, terminal).rows[1]).toMatch(/… 2s · Ctrl-C stops it$/)
})

test.each([
  [40, 10],
  [200, 50],
])("in %i columns and %i rows they fit, and the cursor is in the input", (columns, height) => {
  const state = {
    ...idle,
    line: lineOf("words ".repeat(200)),
    turn: Array.from({ length: 60 }, () => "a row"),
    queued: ["a long text ".repeat(30)],
    busy: { doing: "writing a_tool_with_a_long_name", ms: 4_000_000 },
  }
  const { rows, cursor } = liveRows(state, { columns, height, paint })
  expect(Math.max(...rows.map(width))).toBeLessThan(columns)
  expect(rows.length).toBeLessThan(height)
  expect(rows[cursor.row]).toContain("words")
})
