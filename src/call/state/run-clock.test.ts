import fc from "fast-check"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { RunClock } from "./run-clock.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A clock and when, after how many milliseconds, it rang. */
function clockOf(milliseconds: number) {
  const began = performance.now()
  const rang: number[] = []
  const clock = new RunClock(milliseconds, () => rang.push(performance.now() - began))
  return { clock, rang }
}

test("a clock fires once, when its time is over", () => {
  const { rang } = clockOf(100)
  vi.advanceTimersByTime(99)
  expect(rang).toEqual([])
  vi.advanceTimersByTime(1000)
  expect(rang).toEqual([100])
})

test("a stopped clock never fires, whatever its sub-calls still count", () => {
  const { clock, rang } = clockOf(100)
  clock.countChild(1)
  clock.stop()
  clock.countWaiting(1)
  clock.countWaiting(-1)
  clock.countChild(-1)
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(1000)
  expect(rang).toEqual([])
})

test("a clock is paused while its only sub-call waits for a person, and then continues", () => {
  const { clock, rang } = clockOf(100)
  vi.advanceTimersByTime(30)
  clock.countChild(1)
  clock.countWaiting(1)
  vi.advanceTimersByTime(3_600_000)
  expect(rang).toEqual([])
  clock.countWaiting(-1)
  vi.advanceTimersByTime(69)
  expect(rang).toEqual([])
  vi.advanceTimersByTime(1)
  expect(rang).toEqual([3_600_100])
})

test("a clock runs while one of its sub-calls works", () => {
  const { clock, rang } = clockOf(100)
  clock.countChild(1)
  clock.countChild(1)
  clock.countWaiting(1)
  vi.advanceTimersByTime(40)
  clock.countWaiting(1)
  vi.advanceTimersByTime(500)
  clock.countWaiting(-1)
  clock.countChild(-1)
  vi.advanceTimersByTime(500)
  expect(rang).toEqual([])
  clock.countWaiting(-1)
  clock.countChild(-1)
  vi.advanceTimersByTime(60)
  expect(rang).toEqual([1100])
})

test("a sub-call that begins makes a paused clock continue", () => {
  const { clock, rang } = clockOf(100)
  clock.countChild(1)
  clock.countWaiting(1)
  vi.advanceTimersByTime(500)
  clock.countChild(1)
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
  clock.countChild(1)
  clock.countWaiting(1)
  clock.countWaiting(-1)
  vi.advanceTimersByTime(69)
  expect(rang).toEqual([])
  vi.advanceTimersByTime(1)
  expect(rang).toEqual([100])
})

test("law: a clock fires exactly when the working time is over, and knows how long it stood still", () => {
  const someStep = fc.record({ after: fc.nat({ max: 60 }), act: fc.constantFrom("begin", "end", "wait", "answer") })
  fc.assert(
    fc.property(fc.array(someStep, { maxLength: 30 }), (steps) => {
      const { clock, rang } = clockOf(100)
      let [running, waiting, worked, waited, passed] = [0, 0, 0, 0, 0]
      let due: number | undefined
      const pass = (milliseconds: number) => {
        const paused = running > 0 && waiting === running
        if (!paused && due === undefined && worked + milliseconds >= 100) due = passed + 100 - worked
        if (paused) waited += milliseconds
        else worked += milliseconds
        passed += milliseconds
        vi.advanceTimersByTime(milliseconds)
      }
      for (const { after, act } of steps) {
        pass(after)
        const children = act === "begin" ? 1 : act === "end" && running > waiting ? -1 : 0
        const waits = act === "wait" && waiting < running ? 1 : act === "answer" && waiting > 0 ? -1 : 0
        if (children !== 0) clock.countChild(children)
        if (waits !== 0) clock.countWaiting(waits)
        running += children
        waiting += waits
        if (due !== undefined) break
      }
      expect(rang).toEqual(due === undefined ? [] : [due])
      expect(clock.stop()).toBe(waited)
    }),
  )
})
