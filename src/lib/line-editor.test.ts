import { expect, test } from "vitest"
import { emptyLine, lineOf, pressKey, type Key, type Line } from "./line-editor.ts"

const type = (text: string): Key[] => Array.from(text, (each) => ({ name: each, text: each }))
const key = (name: string, more: Partial<Key> = {}): Key => ({ name, ...more })
const enter = key("return", { text: "\r" })
const times = (count: number, each: Key): Key[] => Array.from({ length: count }, () => each)

/** The line after these keys, with `|` where the cursor is, and the actions they asked for. */
function press(keys: readonly Key[], history: readonly string[] = [], from: Line = emptyLine) {
  let line = from
  const actions: string[] = []
  for (const each of keys) {
    const pressed = pressKey(line, each, history)
    line = pressed.line
    if (pressed.action !== undefined) actions.push(pressed.action)
  }
  return { shown: `${line.text.slice(0, line.cursor)}|${line.text.slice(line.cursor)}`, actions, line }
}

test.each<[string, Key[], string]>([
  ["letters are inserted at the cursor", [...type("ac"), key("left"), ...type("b")], "ab|c"],
  ["backspace takes a whole character", [...type("a"), key("x", { text: "👩‍👩‍👧" }), key("backspace")], "a|"],
  ["left passes a whole character", [key("x", { text: "👍🏽" }), ...type("b"), ...times(2, key("left"))], "|👍🏽b"],
  ["delete takes the character at the cursor", [...type("ab"), key("home"), key("delete")], "|b"],
  ["ctrl-w takes a word", [...type("one two "), key("w", { ctrl: true })], "one |"],
  ["ctrl-u takes the line before the cursor", [...type("one two"), key("left"), key("u", { ctrl: true })], "|o"],
  ["ctrl-k takes the rest", [...type("one"), key("a", { ctrl: true }), key("right"), key("k", { ctrl: true })], "o|"],
  [
    "alt-b and alt-f go by words",
    [...type("one two"), key("b", { meta: true }), key("b", { meta: true }), key("f", { meta: true })],
    "one| two",
  ],
  ["alt-enter begins a new line", [...type("a"), key("return", { meta: true }), ...type("b")], "a\nb|"],
  ["a backslash at the end of the line begins a new one", [...type("a\\"), enter, ...type("b")], "a\nb|"],
  [
    "up and down keep the column",
    [...type("abc\\"), enter, ...type("de"), key("up"), key("left"), key("down")],
    "abc\nd|e",
  ],
  ["keys without a text change nothing", [...type("a"), key("f5"), key("g", { ctrl: true, text: "\u0007" })], "a|"],
  ["an arrow at the edge stays", [key("left"), ...type("a"), key("right")], "a|"],
])("%s", (_what, keys, shown) => {
  expect(press(keys).shown).toBe(shown)
})

test("a paste is text only: its line ends submit nothing", () => {
  const paste = (text: string) => key("paste", { text })
  const { shown, actions } = press([key("paste-start"), paste("rm -rf"), paste("\n"), key("paste-end")])
  expect(shown).toBe("rm -rf\n|")
  expect(actions).toEqual([])
})

test.each<[string, Key, string, string]>([
  ["enter", enter, "text", "submit"],
  ["ctrl-c", key("c", { ctrl: true }), "text", "interrupt"],
  ["ctrl-d at an empty line", key("d", { ctrl: true }), "", "leave"],
  ["tab", key("tab"), "/to", "complete"],
  ["ctrl-z", key("z", { ctrl: true }), "text", "suspend"],
  ["ctrl-l", key("l", { ctrl: true }), "text", "clear-screen"],
])("%s asks for an action and leaves the text", (_what, pressed, text, action) => {
  expect(pressKey(lineOf(text), pressed, [])).toEqual({ line: lineOf(text), action })
})

test("ctrl-d in a text deletes forward", () => {
  const { shown, actions } = press([...type("ab"), key("home"), key("d", { ctrl: true })])
  expect([shown, actions]).toEqual(["|b", []])
})

test("arrows go through the history and come back to one's own text", () => {
  const history = ["first", "second"]
  const up = key("up")
  const down = key("down")
  expect(press([...type("mine"), up], history).shown).toBe("second|")
  expect(press([...type("mine"), up, up, up], history).shown).toBe("first|")
  expect(press([...type("mine"), up, up, down], history).shown).toBe("second|")
  expect(press([...type("mine"), up, up, down, down, down], history).shown).toBe("mine|")
})

test("an entry of the history that is changed becomes one's own text", () => {
  const { shown } = press([key("up"), ...type("!"), key("up"), key("down")], ["first", "second"])
  expect(shown).toBe("second!|")
})
