import { describe, expect, test } from "vitest"
import { createGuard, isCommand, isInView, sleepMs, type KeyPress } from "./guard.ts"

function guarded(hasFocus = true) {
  let time = 10_000
  const guard = createGuard(() => time, hasFocus)
  return { guard, pass: (ms: number) => (time += ms) }
}
const card = { callId: "c1", revision: 1 }

describe("a card that appears or changes", () => {
  test("sleeps for 600 ms and no longer", () => {
    const { guard, pass } = guarded()
    guard.show(card)
    pass(sleepMs - 1)
    expect(guard.judge(guard.press(), false)).toBe("sleeps")
    pass(1)
    expect(guard.judge(guard.press(), false)).toBe("go")
  })

  test("does not sleep again when the same revision is drawn again", () => {
    const { guard, pass } = guarded()
    guard.show(card)
    pass(sleepMs)
    guard.show({ ...card })
    expect(guard.sleeping()).toBe(false)
  })

  test.each([
    ["another revision", { callId: "c1", revision: 2 }],
    ["another card", { callId: "c2", revision: 1 }],
    ["no card", undefined],
  ])("between press and release is not answered: %s", (_, next) => {
    const { guard, pass } = guarded()
    guard.show(card)
    pass(sleepMs)
    const pressed = guard.press()
    guard.show(next)
    pass(sleepMs)
    expect(guard.judge(pressed, false)).toBe("changed")
  })
})

describe("a window that gets focus", () => {
  test("takes the first click as waking it, however late, and the second as an answer", () => {
    const { guard, pass } = guarded()
    guard.show(card)
    pass(sleepMs)
    guard.windowBlurred()
    guard.windowFocused()
    pass(60_000)
    guard.pointerDown()
    expect(guard.judge(guard.press(), false)).toBe("woke")
    guard.pointerDown()
    expect(guard.judge(guard.press(), false)).toBe("go")
  })

  test("is woken by a click beside the card, too", () => {
    const { guard, pass } = guarded(false)
    guard.show(card)
    pass(sleepMs)
    guard.pointerDown()
    guard.pointerDown()
    expect(guard.judge(guard.press(), false)).toBe("go")
  })

  test("sleeps for keys, but does not swallow a key pressed later", () => {
    const { guard, pass } = guarded()
    guard.show(card)
    pass(sleepMs)
    guard.windowBlurred()
    guard.windowFocused()
    expect(guard.judge(guard.press(), true)).toBe("sleeps")
    pass(sleepMs)
    expect(guard.judge(guard.press(), true)).toBe("go")
  })
})

describe("a key", () => {
  const key: KeyPress = { key: "a", repeat: false, ctrlKey: false, metaKey: false, altKey: false, isComposing: false }
  const page = { typing: false, covered: false }

  test("is a command on a page where nobody types", () => expect(isCommand(key, page)).toBe(true))

  test.each([
    ["on auto-repeat", { ...key, repeat: true }, page],
    ["with Ctrl", { ...key, ctrlKey: true }, page],
    ["with Cmd", { ...key, metaKey: true }, page],
    ["with Alt", { ...key, altKey: true }, page],
    ["while a text is composed", { ...key, isComposing: true }, page],
    ["while somebody types", key, { ...page, typing: true }],
    ["under a dialog", key, { ...page, covered: true }],
  ])("is none %s", (_, press, state) => expect(isCommand(press, state)).toBe(false))
})

test.each([
  ["inside", { top: 10, bottom: 500 }, true],
  ["longer than the view", { top: -900, bottom: 3000 }, true],
  ["at its very edge", { top: -500, bottom: 60 }, false],
  ["below", { top: 900, bottom: 1200 }, false],
  ["above", { top: -400, bottom: -10 }, false],
])("what is %s, %o, is in view: %s", (_, thing, seen) => expect(isInView(thing, { top: 50, bottom: 800 })).toBe(seen))
