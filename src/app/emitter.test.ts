import { expect, test } from "vitest"
import { Emitter } from "./emitter.ts"
import type { QuartermasterEvent } from "../core/events.ts"
import { silentLogger } from "../core/logger.ts"
import { until } from "../testing/test-app.ts"

const changed: QuartermasterEvent = { type: "GROUP_CHANGED", at: 1, group: "data", change: "updated" }
const listed: QuartermasterEvent = {
  type: "TOOL_LIST_CHANGED",
  at: 2,
  tool: "system:probe@1.0.0",
  change: "registered",
}

/** An emitter and the errors it logged. */
function emitterOf() {
  const errors: unknown[][] = []
  const emitter = new Emitter({ ...silentLogger, error: (...words) => void errors.push(words) })
  return { emitter, errors }
}

test("a listener gets the events of its type, unchanged and in order", () => {
  const { emitter } = emitterOf()
  const seen: unknown[] = []
  emitter.on("GROUP_CHANGED", (event) => seen.push(event))
  emitter.emit(changed)
  emitter.emit(listed)
  emitter.emit({ ...changed, at: 3 })
  expect(seen).toEqual([changed, { ...changed, at: 3 }])
})

test("listeners are called in the order they were added, and a function added twice is called twice", () => {
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

test("an error in a listener is logged and does not affect the others", () => {
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

test("a rejection of an async listener is logged too", async () => {
  const { emitter, errors } = emitterOf()
  const fault = new Error("later")
  // oxlint-disable-next-line typescript/no-misused-promises -- tested because people do it
  emitter.on("GROUP_CHANGED", () => Promise.reject(fault))
  emitter.emit(changed)
  await until(() => errors.length === 1, "the failure is logged")
  expect(errors).toEqual([["A listener to GROUP_CHANGED failed.", fault]])
})

test("a listener removed while an event is emitted is not called for it", () => {
  const { emitter } = emitterOf()
  const seen: string[] = []
  emitter.on("GROUP_CHANGED", () => stop())
  const stop = emitter.on("GROUP_CHANGED", () => seen.push("stopped"))
  emitter.on("GROUP_CHANGED", () => seen.push("last"))
  emitter.emit(changed)
  expect(seen).toEqual(["last"])
})

test("a listener added during an event is called for the next event, not for this one", () => {
  const { emitter } = emitterOf()
  let calls = 0
  const listen = (): (() => void) =>
    emitter.on("GROUP_CHANGED", () => {
      if (++calls > 10) throw new Error("The listener was called again for the same event.")
      stop()
      stop = listen()
    })
  let stop = listen()
  emitter.emit(changed)
  expect(calls).toBe(1)
  emitter.emit(changed)
  expect(calls).toBe(2)
})
