import fc from "fast-check"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { RunClock } from "./clock.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A clock and when, after how many milliseconds, it rang. */
function clockOf(milliseconds: number) {
  const began = performance.now()
  const rang: number[] = []
  const clock = new RunClock(milliseconds, () => rang.push(performance.now() - began))
  return { clock, rang }
}

test("a clock rings once, when its time is over", () => {
  const { rang } = clockOf(100)
  vi.advanceTimersByTime(99)
  expect(rang).toEqual([])
  vi.advanceTimersByTime(1000)
  expect(rang).toEqual([100])
})

test("a stopped clock never rings, whatever its sub-calls still tell it", () => {
  const { clock, rang } = clockOf(100)
  clock.children(1)
  clock.stop()
  clock.waiting(1)
  clock.waiting(-1)
  clock.children(-1)
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(1000)
  expect(rang).toEqual([])
})

test("a clock stands while its only sub-call waits for a person, and goes on where it stood", () => {
  const { clock, rang } = clockOf(100)
  vi.advanceTimersByTime(30)
  clock.children(1)
  clock.waiting(1)
  vi.advanceTimersByTime(3_600_000)
  expect(rang).toEqual([])
  clock.waiting(-1)
  vi.advanceTimersByTime(69)
  expect(rang).toEqual([])
  vi.advanceTimersByTime(1)
  expect(rang).toEqual([3_600_100])
})

test("a clock goes on while one of its sub-calls works", () => {
  const { clock, rang } = clockOf(100)
  clock.children(1)
  clock.children(1)
  clock.waiting(1)
  vi.advanceTimersByTime(40)
  clock.waiting(1)
  vi.advanceTimersByTime(500)
  clock.waiting(-1)
  clock.children(-1)
  vi.advanceTimersByTime(500)
  expect(rang).toEqual([])
  clock.waiting(-1)
  clock.children(-1)
  vi.advanceTimersByTime(60)
  expect(rang).toEqual([1100])
})

test("a sub-call that begins makes a standing clock go on", () => {
  const { clock, rang } = clockOf(100)
  clock.children(1)
  clock.waiting(1)
  vi.advanceTimersByTime(500)
  clock.children(1)
  vi.advanceTimersByTime(100)
  expect(rang).toEqual([600])
})

test.each([
  ["set back", -3_600_000],
  ["set forward", 3_600_000],
])("a computer clock that is %s while a run waits takes no time from it and gives it none", (_what, change) => {
  const { clock, rang } = clockOf(100)
  vi.advanceTimersByTime(30)
  vi.setSystemTime(Date.now() + change)
  clock.children(1)
  clock.waiting(1)
  clock.waiting(-1)
  vi.advanceTimersByTime(69)
  expect(rang).toEqual([])
  vi.advanceTimersByTime(1)
  expect(rang).toEqual([100])
})

test("law: a clock rings exactly when the time in which somebody worked is over", () => {
  const someStep = fc.record({ after: fc.nat({ max: 60 }), act: fc.constantFrom("begin", "end", "wait", "answer") })
  fc.assert(
    fc.property(fc.array(someStep, { maxLength: 30 }), (steps) => {
      const { clock, rang } = clockOf(100)
      let [running, waiting, worked, passed] = [0, 0, 0, 0]
      let due: number | undefined
      const pass = (milliseconds: number) => {
        const stands = running > 0 && waiting === running
        if (!stands && due === undefined && worked + milliseconds >= 100) due = passed + 100 - worked
        if (!stands) worked += milliseconds
        passed += milliseconds
        vi.advanceTimersByTime(milliseconds)
      }
      for (const { after, act } of steps) {
        pass(after)
        const children = act === "begin" ? 1 : act === "end" && running > waiting ? -1 : 0
        const waits = act === "wait" && waiting < running ? 1 : act === "answer" && waiting > 0 ? -1 : 0
        if (children !== 0) clock.children(children)
        if (waits !== 0) clock.waiting(waits)
        running += children
        waiting += waits
        if (due !== undefined) break
      }
      expect(rang).toEqual(due === undefined ? [] : [due])
      clock.stop()
    }),
  )
})
