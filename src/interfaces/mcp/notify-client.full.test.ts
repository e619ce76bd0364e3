import { expect, test } from "vitest"
import { recordingNotifier } from "./testing/notify-client.ts"

test("the notifications of one call are limited, however much it logs", async () => {
  const { notifications, notifier } = recordingNotifier()
  for (let index = 0; index < 3000; index++) {
    notifier.output({ log: { level: "info", data: "z".repeat(15_000) } })
    await Promise.resolve()
  }
  expect(JSON.stringify(notifications).length).toBeLessThan(18 * 1024 * 1024)
})
