import { expect, test } from "vitest"
import { Emitter } from "./emitter.ts"
import type { QuartermasterEvent } from "./model/events.ts"
import { silentLogger } from "./model/logger.ts"
import { until } from "./testing/open.ts"

const changed: QuartermasterEvent = { type: "GROUP_CHANGED", at: 1, group: "data", change: "updated" }
const listed: QuartermasterEvent = {
  type: "TOOL_LIST_CHANGED",
  at: 2,
  tool: "system:probe@1.0.0",
  change: "registered",
}

/** An emitter and what it complained of. */
function emitterOf() {
  const errors: unknown[][] = []
  const emitter = new Emitter({ ...silentLogger, error: (...words) => void errors.push(words) })
  return { emitter, errors }
}

test("a listener gets the events of its type, as they are and in their order", () => {
  const { emitter } = emitterOf()
  const seen: unknown[] = []
  emitter.on("GROUP_CHANGED", (event) => seen.push(event))
  emitter.emit(changed)
  emitter.emit(listed)
  emitter.emit({ ...changed, at: 3 })
  expect(seen).toEqual([changed, { ...changed, at: 3 }])
})

test("listeners are told in the order they came, and one function may listen twice", () => {
  const { emitter } = emitterOf()
  const seen: string[] = []
  const twice = () => void seen.push("twice")
  emitter.on("GROUP_CHANGED", twice)
  emitter.on("GROUP_CHANGED", () => seen.push("once"))
  const stop = emitter.on("GROUP_CHANGED", twice)
  emitter.emit(changed)
  expect(seen).toEqual(["twice", "once", "twice"])
  stop()
  stop()
  emitter.emit(changed)
  expect(seen.slice(3)).toEqual(["twice", "once"])
})

test("a listener that throws harms nobody and is complained of", () => {
  const { emitter, errors } = emitterOf()
  const seen: number[] = []
  const fault = new Error("no")
  emitter.on("GROUP_CHANGED", () => {
    throw fault
  })
  emitter.on("GROUP_CHANGED", ({ at }) => seen.push(at))
  expect(() => emitter.emit(changed)).not.toThrow()
  expect(seen).toEqual([1])
  expect(errors).toEqual([["A listener to GROUP_CHANGED failed.", fault]])
})

test("an async listener that fails harms nobody either", async () => {
  const { emitter, errors } = emitterOf()
  const fault = new Error("later")
  // oxlint-disable-next-line typescript/no-misused-promises -- that people do is why it is tested
  emitter.on("GROUP_CHANGED", () => Promise.reject(fault))
  emitter.emit(changed)
  await until(() => errors.length === 1, "the failure was complained of")
  expect(errors).toEqual([["A listener to GROUP_CHANGED failed.", fault]])
})

test("who stops listening while an event is handed out is not told of it any more", () => {
  const { emitter } = emitterOf()
  const seen: string[] = []
  emitter.on("GROUP_CHANGED", () => stop())
  const stop = emitter.on("GROUP_CHANGED", () => seen.push("stopped"))
  emitter.on("GROUP_CHANGED", () => seen.push("last"))
  emitter.emit(changed)
  expect(seen).toEqual(["last"])
})

test("who listens anew from inside a listener is told of the next event, not of this one again", () => {
  const { emitter } = emitterOf()
  let told = 0
  const listen = (): (() => void) =>
    emitter.on("GROUP_CHANGED", () => {
      if (++told > 10) throw new Error("This goes on for ever.")
      stop()
      stop = listen()
    })
  let stop = listen()
  emitter.emit(changed)
  expect(told).toBe(1)
  emitter.emit(changed)
  expect(told).toBe(2)
})
