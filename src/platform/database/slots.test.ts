import { expect, test } from "vitest"
import type { ToolFailure } from "../../core/ending.ts"
import { Slots } from "./slots.ts"

test("work beyond the limit waits for its turn, and gives up when it is stopped", async () => {
  const slots = new Slots(1)
  const order: string[] = []
  const stop = new AbortController()
  const { signal } = new AbortController()
  let finish = () => {}
  const first = slots.run(signal, () => new Promise<void>((resolve) => void (finish = resolve)))
  const stopped = slots.run(stop.signal, async () => void order.push("stopped")).catch((error: ToolFailure) => error.toolCode) // prettier-ignore
  const second = slots.run(signal, async () => void order.push("second"))
  const third = slots.run(signal, async () => void order.push("third"))
  stop.abort()
  expect(await stopped).toBe("statement_stopped")
  expect(order).toEqual([])
  finish()
  await Promise.all([first, second, third])
  expect(order).toEqual(["second", "third"])
})

test("work that is stopped just when its turn comes hands it on", async () => {
  const slots = new Slots(1)
  const stop = new AbortController()
  const { signal } = new AbortController()
  const first = slots.run(signal, async () => {})
  const stopped = slots.run(stop.signal, async () => {}).catch((error: ToolFailure) => error.toolCode)
  const second = slots.run(signal, async () => "done")
  await first
  stop.abort()
  await stopped
  expect(await second).toBe("done")
})
