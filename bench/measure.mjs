/**
 * Measures calls of the tool that every row has: `{ a, b }` in, a result with their sum out.
 * Every sum is added up and compared at the end, so a row that answers wrongly throws instead of looking fast.
 */
import { isSmoke } from "./smoke.mjs"

const settleMilliseconds = isSmoke ? 5 : 900
const measureMilliseconds = isSmoke ? 5 : 500
/** Long enough that the end of a batch, when fewer calls are in flight, does not count. */
const batchMilliseconds = isSmoke ? 1 : 50

/**
 * Microseconds per call, each call awaited before the next.
 * @template Result
 * @param {(input: { a: number, b: number }) => Result | Promise<Result>} call
 * @param {(result: Result) => number} sumOf
 * @returns {Promise<number>}
 */
export function oneAtATime(call, sumOf) {
  return measure(async (count) => {
    let total = 0
    for (let a = 0; a < count; a += 1) total += sumOf(await call({ a, b: 1 }))
    return total
  })
}

/**
 * Microseconds per call (elapsed time by calls, not the time one call waits) with `lanes` calls in flight.
 * @template Result
 * @param {number} lanes
 * @param {(input: { a: number, b: number }) => Result | Promise<Result>} call
 * @param {(result: Result) => number} sumOf
 * @param {() => Promise<void>} [finish] what else must be done before the clock stops
 * @returns {Promise<number>}
 */
export function inFlight(lanes, call, sumOf, finish) {
  return measure(
    async (count) => {
      let next = 0
      let total = 0
      const lane = async () => {
        while (next < count) {
          const sum = sumOf(await call({ a: next++, b: 1 }))
          total += sum
        }
      }
      await Promise.all(Array.from({ length: lanes }, lane))
      return total
    },
    lanes,
    finish,
  )
}

/** Settles first, then runs batches of a size found while settling. `callMany` returns the total of all sums. */
async function measure(callMany, smallestBatch = 1, finish) {
  let batch = smallestBatch
  const settleUntil = performance.now() + settleMilliseconds
  for (let start = performance.now(); start < settleUntil; start = performance.now()) {
    await checked(callMany, batch)
    if (performance.now() - start < batchMilliseconds) batch *= 2
  }
  await finish?.()
  let calls = 0
  const start = performance.now()
  let elapsed = 0
  while (elapsed < measureMilliseconds) {
    await checked(callMany, batch)
    calls += batch
    elapsed = performance.now() - start
  }
  if (finish !== undefined) {
    await finish()
    elapsed = performance.now() - start
  }
  return (elapsed * 1000) / calls
}

async function checked(callMany, count) {
  const total = await callMany(count)
  const expected = (count * (count + 1)) / 2
  if (total !== expected) throw new Error(`${count} calls added up to ${total}, expected ${expected}.`)
}
