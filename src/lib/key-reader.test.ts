import fc from "fast-check"
import { expect, test } from "vitest"
import { KeyReader } from "./key-reader.ts"
import { emptyLine, pressKey, type Key } from "./line-editor.ts"

const read = (...pieces: string[]) => {
  const reader = new KeyReader()
  return pieces.flatMap((piece) => reader.take(piece))
}

test.each<[string, string, Key]>([
  ["a letter", "a", { name: "a", text: "a" }],
  ["a capital letter", "A", { name: "a", text: "A" }],
  ["a character of two code units", "\u{1f389}", { name: "\u{1f389}", text: "\u{1f389}" }],
  ["Enter", "\r", { name: "return" }],
  ["Ctrl-J", "\n", { name: "enter" }],
  ["Ctrl-C", "\u0003", { name: "c", ctrl: true }],
  ["Backspace", "\u007f", { name: "backspace" }],
  ["Tab", "\t", { name: "tab" }],
  ["an arrow", "\u001b[A", { name: "up" }],
  ["an arrow in application mode", "\u001bOD", { name: "left" }],
  ["Ctrl with an arrow", "\u001b[1;5C", { name: "right", ctrl: true }],
  ["Alt with an arrow", "\u001b[1;3D", { name: "left", meta: true }],
  ["Alt with a letter", "\u001bb", { name: "b", meta: true }],
  ["Alt with Enter", "\u001b\r", { name: "return", meta: true }],
  ["Home", "\u001b[1~", { name: "home" }],
  ["Delete", "\u001b[3~", { name: "delete" }],
])("%s is one key, also in two pieces", (_what, sent, key) => {
  expect(read(sent)).toMatchObject([key])
  if (sent.startsWith("\u001b")) expect(read(sent.slice(0, -1), sent.slice(-1))).toMatchObject([key])
})

test("a key that nobody knows types nothing", () => {
  const keys = read("a\u001b[?1;2c\u001b[99~\u001b[Z\u009bb")
  expect(keys.reduce((line, key) => pressKey(line, key, []).line, emptyLine).text).toBe("ab")
})

test("an escape character waits for the rest of a key; when none comes, it was Escape", () => {
  const reader = new KeyReader()
  expect([reader.take("\u001b"), reader.waitsForKey]).toEqual([[], true])
  expect([reader.takeEscape(), reader.waitsForKey, reader.takeEscape()]).toEqual([[{ name: "escape" }], false, []])
})

test("no key of a marked paste means anything but its text, in whatever pieces it comes", () => {
  const piece = fc.constantFrom("rm -rf", "a", "\r", "\r\n", "\u0003", "\u001b", "\u001b[A", "\t", "yes")
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), fc.nat(30), (pieces, at) => {
      const sent = `\u001b[200~${pieces.join("")}\u001b[201~`
      const keys = read(sent.slice(0, at), sent.slice(at))
      expect(keys.filter(({ name = "" }) => !name.startsWith("paste"))).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test.each([
  [true, "yes\rno\r", ["paste", "paste"]],
  [true, "yes\rn", ["paste"]],
  [true, "yes\r\n", ["paste"]],
  [true, "yes\r", ["return"]],
  [false, "yes\rn", ["return"]],
])("where pastes are guessed (%s), the line ends of %j are %j", (guessesPastes, sent, ends) => {
  const keys = new KeyReader({ guessesPastes }).take(sent)
  expect(keys.flatMap(({ name }) => (name === "return" || name === "paste" ? name : []))).toEqual(ends)
})

test("Ctrl-C alone ends a paste whose end never came", () => {
  expect(read("\u001b[200~abc", "\u0003").at(-1)).toEqual({ name: "c", ctrl: true })
})
