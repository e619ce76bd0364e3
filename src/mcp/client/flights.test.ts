import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { deferred } from "../../testing/open.ts"
import { asking } from "../testing/connections.ts"
import { Flights } from "./flights.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test("a call's time stands still while somebody is asked, and goes on where it was", async () => {
  const flight = new Flights(() => {}).begin(asking({ timeoutMs: 1000 }))
  await vi.advanceTimersByTimeAsync(600)
  const [first, second] = [deferred(), deferred()]
  const asked = [flight.waitFor(() => first.promise), flight.waitFor(() => second.promise)]
  await vi.advanceTimersByTimeAsync(3_600_000)
  first.resolve()
  await vi.advanceTimersByTimeAsync(3_600_000)
  second.resolve()
  await Promise.all(asked)
  await vi.advanceTimersByTimeAsync(399)
  expect(flight.stopped).toBeUndefined()
  await vi.advanceTimersByTimeAsync(2)
  expect(flight.stopped).toBe("timeout")
  expect(flight.signal.aborted).toBe(true)
})

test("a call without a limit is never too long, and one that ended leaves no timer", async () => {
  const idle = vi.fn()
  const flights = new Flights(idle)
  const endless = flights.begin(asking({ timeoutMs: null }))
  const ended = flights.begin(asking({ timeoutMs: 1000 }))
  ended.end()
  expect(vi.getTimerCount()).toBe(0)
  await vi.advanceTimersByTimeAsync(100_000_000)
  expect(endless.stopped).toBeUndefined()
  expect(ended.stopped).toBeUndefined()
  expect(idle).not.toHaveBeenCalled()
  endless.end()
  expect(idle).toHaveBeenCalledOnce()
})

test("a call that ends while somebody is asked does not begin to run again", async () => {
  const flight = new Flights(() => {}).begin(asking({ timeoutMs: 1000 }))
  const answer = deferred()
  const asked = flight.waitFor(() => answer.promise)
  flight.end()
  answer.resolve()
  await asked
  expect(vi.getTimerCount()).toBe(0)
})
