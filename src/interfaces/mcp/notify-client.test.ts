import { expect, test } from "vitest"
import { recordingNotifier } from "./testing/notify-client.ts"

test("a long log message is cut, and a short one passed on unchanged", () => {
  const { notifications, notifier } = recordingNotifier()
  notifier.output({ log: { level: "info", logger: "x".repeat(1000), data: { text: "y".repeat(1_000_000) } } })
  notifier.output({ log: { level: "warning", data: { a: [1] } } })
  expect(JSON.stringify(notifications[0]).length).toBeLessThan(17_000)
  expect(notifications[0]?.params["data"]).toMatch(/\[cut\]$/)
  expect(notifications[1]?.params).toEqual({ level: "warning", data: { a: [1] } })
})
