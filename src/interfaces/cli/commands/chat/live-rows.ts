import type { TerminalStyle } from "../../../../lib/terminal-style.ts"
import { onOneLine } from "../../terminal/call-line.ts"
import { formatDuration } from "../../common/time-text.ts"
import { cutTo } from "../../terminal/width.ts"
import { inputRows, type Rows } from "./layout.ts"
import type { Line } from "../../../../lib/line-editor.ts"

/** The state that the live rows show. */
export interface LiveState {
  line: Line
  /** The present text and activity of the agent. */
  turn: readonly string[]
  /** The messages that are sent and not read yet. */
  queued: readonly string[]
  /** The items that wait for the person, in a few words. */
  waiting: string | undefined
  /** The agent's activity, and its milliseconds so far; undefined while it does nothing. */
  busy: { doing: string; ms: number } | undefined
  /** The agents whose answers have not come yet. */
  awaits?: readonly string[]
  /** True if a second Ctrl-C leaves. */
  leavesNext: boolean
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
export const frameMs = 120

/** The rows at the bottom of a chat: the turn, what is queued, the state, and the input with the cursor. */
export function liveRows(
  state: LiveState,
  { columns, height, paint }: { columns: number; height: number; paint: TerminalStyle },
): Rows {
  const input = inputRows(state.line, columns, Math.max(3, Math.min(10, height - 8)))
  const queued = state.queued.map((text) => paint.dim(cutTo(`↳ queued: ${onOneLine(text)}`, columns - 1)))
  // More rows than the terminal has could not be drawn again in place.
  const room = Math.max(2, height - input.rows.length - 2)
  const above = [...state.turn, ...queued, "", ...stateRow(state, columns, paint)].slice(-room)
  const below = state.leavesNext ? [paint.dim("Press Ctrl-C again to leave.")] : []
  return {
    rows: [...above, ...input.rows, ...below],
    cursor: { row: above.length + input.cursor.row, column: input.cursor.column },
  }
}

function stateRow({ line, waiting, busy, awaits = [] }: LiveState, columns: number, paint: TerminalStyle): string[] {
  if (busy === undefined && awaits.length === 0) return []
  if (waiting !== undefined) {
    const how = line.text === "" ? "Enter shows it" : "send or clear your text to see it"
    return [paint.yellow(cutTo(`◆ ${waiting} · ${how}`, columns - 1))]
  }
  if (busy === undefined) return [paint.dim(cutTo(`… waits for ${onOneLine(awaits.join(", "))}`, columns - 1))]
  return [busyRow(busy, columns, paint)]
}

/** Returns the activity of an agent, with a sign that moves. */
export function busyRow(
  { doing, ms }: { doing: string; ms: number },
  columns: number,
  { cyan, dim }: TerminalStyle,
): string {
  const took = ms < 1000 ? "" : ` ${formatDuration(ms)}`
  const how = " · Ctrl-C stops it"
  const frame = frames[Math.floor(ms / frameMs) % frames.length]!
  return cyan(frame) + dim(cutTo(` ${cutTo(doing, columns - 4 - took.length - how.length)}${took}${how}`, columns - 3))
}
