import { expect, test, vi } from "vitest"
import { sleepUnlessAborted } from "./on-abort.ts"
import { anyOf, Stop } from "./stop.ts"

test("a stop tells its listeners once, but not those that left", () => {
  const stop = new Stop()
  const [stays, leaves] = [vi.fn(), vi.fn()]
  stop.addEventListener("abort", stays)
  stop.addEventListener("abort", leaves)
  stop.removeEventListener("abort", leaves)
  stop.abort(new Error("first"))
  stop.abort(new Error("second"))
  expect(stays).toHaveBeenCalledTimes(1)
  expect(leaves).not.toHaveBeenCalled()
  expect(stop).toMatchObject({ aborted: true, reason: new Error("first") })
})

test.each(["before it stops", "after it stopped"])(
  "its signal, asked for %s, is aborted with the same reason",
  (when) => {
    const stop = new Stop()
    const early = when === "before it stops" ? stop.signal : undefined
    stop.abort(new Error("enough"))
    const { aborted, reason } = early ?? stop.signal
    expect([aborted, reason]).toEqual([true, new Error("enough")])
  },
)

test("one of several, real or not, is enough", () => {
  const [stop, other] = [new Stop(), new AbortController()]
  const any = anyOf(stop, other.signal)
  expect(any.aborted).toBe(false)
  stop.abort(new Error("enough"))
  expect(any.aborted).toBe(true)
})

test("a sleep ends early when a signal is aborted, also one that was aborted before", async () => {
  const stop = new Stop()
  const slept = sleepUnlessAborted(60_000, [undefined, stop, new AbortController().signal])
  stop.abort(new Error("enough"))
  await slept
  await sleepUnlessAborted(60_000, [stop])
})
