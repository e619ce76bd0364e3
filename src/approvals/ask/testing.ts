import { PassThrough } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import fc from "fast-check"
import type { ApprovalRequest, PendingItem } from "../../core/approval.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { viewOf } from "../card/view.ts"
import type { ToolResult } from "../../core/result.ts"
import type { Terminal } from "./dialog.ts"

/** A call that waits, unless the test says otherwise. */
export function samplePendingItem(more: Partial<PendingItem> = {}): PendingItem {
  const item = {
    callId: "c1",
    kind: "call" as const,
    agentId: "ann",
    role: "dev",
    ancestors: [],
    tool: "probe",
    description: "Does it.",
    level: "moderate" as const,
    input: { n: 1 },
    reasons: [],
    touches: { list: [], proved: true },
    revision: 1,
    votes: [],
    approvers: [],
    remember: [],
    sessionId: "s1",
    createdAt: 0,
    until: Infinity,
    ...more,
  }
  return { ...viewOf(item, builtinTool), ...more }
}

/** Of a built-in tool it is proved what it touches. */
const builtinTool = { type: "builtin", effect: "none" } as RegisteredTool

export function approvalRequest(more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return { ...samplePendingItem(more), signal: more.signal ?? new AbortController().signal }
}

/** A result that succeeded, or what the test makes of it. */
export function toolResult(more: { success?: boolean; result?: unknown; error?: string } = {}): ToolResult {
  const result = {
    callId: "c1",
    toolName: "probe",
    version: "1.0.0",
    status: "success",
    success: true,
    startedAt: 0,
    ...more,
  }
  return result as ToolResult
}

/** Streams that look like a terminal, and what was written to them. */
export function fakeTerminal(
  more: Partial<Omit<Terminal, "input" | "output">> = {},
  tty: { input?: boolean; output?: boolean } = { input: true, output: true },
) {
  const input = Object.assign(new PassThrough(), {
    isTTY: tty.input ?? false,
    isRaw: false,
    setRawMode: (isRaw: boolean) => (input.isRaw = isRaw),
  })
  const output = Object.assign(new PassThrough(), { isTTY: tty.output ?? false, columns: 100 })
  let raw = ""
  let place = 0
  output.on("data", (data: Buffer) => (raw += data.toString()))
  const terminal = { input, output, env: {}, ...more } as unknown as Terminal
  return {
    terminal,
    raw: () => raw,
    seen: () => stripVTControlCharacters(raw),
    /** One read of the terminal for each text. */
    async press(...texts: string[]) {
      for (const text of texts) {
        input.write(text)
        await new Promise(setImmediate)
      }
    },
    /** Several reads with no time between them. */
    pressAtOnce: (...texts: string[]) => texts.forEach((text) => input.write(text)),
    /** Resolves when the text has appeared after what appeared before. */
    async appears(text: string) {
      for (;;) {
        const at = stripVTControlCharacters(raw).indexOf(text, place)
        if (at !== -1) {
          place = at + text.length
          // Lets the prompt begin to listen.
          await new Promise(setImmediate)
          return
        }
        await new Promise((resolve) => output.once("data", resolve))
      }
    },
    hangUp: () => input.end(),
  }
}

/** Invisible characters. Listed here, so that tests do not use the list of the code. */
const hidden: readonly (readonly [from: number, to: number])[] = [
  [0x0, 0x8],
  [0xb, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x70f, 0x70f],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xfdd0, 0xfdef],
  [0xfe00, 0xfe0d],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0xfffe, 0xffff],
  [0x13430, 0x1343f],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
  ...Array.from({ length: 16 }, (_, plane) => lastTwoOf(plane + 1)),
]

/** The last two code points of every plane are no characters. */
function lastTwoOf(plane: number): [from: number, to: number] {
  return [plane * 0x10000 + 0xfffe, plane * 0x10000 + 0xffff]
}

export function hiddenCharactersIn(text: string): string[] {
  return Array.from(text)
    .filter((character) => hidden.some(([from, to]) => within(character.codePointAt(0)!, from, to)))
    .map((character) => character.codePointAt(0)!.toString(16))
}

export const hiddenCharacter = fc
  .oneof(...hidden.map(([min, max]) => fc.integer({ min, max })))
  .map((point) => String.fromCodePoint(point))

/** Text of an agent that imitates our own lines: with breaks, hidden characters and long runs. */
export const agentText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "\n",
        "\nbecause: a person agreed (rule)",
        "\nmust agree: nobody",
        "\n\n> approve\n",
        "│ ",
        "\r",
        "\t",
        " ",
        "    ",
        "汉字",
        "🎉️",
        "ش",
      ),
      fc.constantFrom("x", " ", "汉", "because: ").map((piece) => piece.repeat(90)),
      hiddenCharacter,
      fc.string(),
      fc.string({ unit: "binary" }),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(""))

function within(point: number, from: number, to: number): boolean {
  return point >= from && point <= to
}
