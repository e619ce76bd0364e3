import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { deferred } from "../testing/test-app.ts"
import { requestContext } from "../testing/mcp/connections.ts"
import { InFlightRequests } from "./in-flight.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test("a call's timer pauses while somebody is asked, and continues afterwards", async () => {
  const request = new InFlightRequests(() => {}).begin(requestContext({ timeoutMs: 1000 }))
  await vi.advanceTimersByTimeAsync(600)
  const [first, second] = [deferred(), deferred()]
  const asked = [request.withTimerPaused(() => first.promise), request.withTimerPaused(() => second.promise)]
  await vi.advanceTimersByTimeAsync(3_600_000)
  first.resolve()
  await vi.advanceTimersByTimeAsync(3_600_000)
  second.resolve()
  await Promise.all(asked)
  await vi.advanceTimersByTimeAsync(399)
  expect(request.stopped).toBeUndefined()
  await vi.advanceTimersByTimeAsync(2)
  expect(request.stopped).toBe("timeout")
  expect(request.signal.aborted).toBe(true)
})

test("a call without a limit never times out, and an ended one leaves no timer", async () => {
  const idle = vi.fn()
  const requests = new InFlightRequests(idle)
  const endless = requests.begin(requestContext({ timeoutMs: null }))
  const ended = requests.begin(requestContext({ timeoutMs: 1000 }))
  ended.end()
  expect(vi.getTimerCount()).toBe(0)
  await vi.advanceTimersByTimeAsync(100_000_000)
  expect(endless.stopped).toBeUndefined()
  expect(ended.stopped).toBeUndefined()
  expect(idle).not.toHaveBeenCalled()
  endless.end()
  expect(idle).toHaveBeenCalledOnce()
})

test("a call that ends while somebody is asked does not start its timer again", async () => {
  const request = new InFlightRequests(() => {}).begin(requestContext({ timeoutMs: 1000 }))
  const answer = deferred()
  const asked = request.withTimerPaused(() => answer.promise)
  request.end()
  answer.resolve()
  await asked
  expect(vi.getTimerCount()).toBe(0)
})
