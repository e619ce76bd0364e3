import { expect, test } from "vitest"
import { runWithApp, type AppParts } from "../testing.ts"

/** Runs a command over an app that writes down what is done with it. */
async function order(words: string[], sweep: () => Promise<void> = () => Promise.resolve()) {
  const done: string[] = []
  const note = <T>(what: string, result: T) => (done.at(-1) === what || done.push(what), result)
  const app: AppParts = {
    on: () => () => {},
    visibleTools: () => [],
    call: () => note("work", Promise.resolve({ success: true, status: "success" } as never)),
    approvals: { list: () => note("work", Promise.resolve([])), show: () => note("work", Promise.resolve(undefined)) },
    audit: {
      list: () => note("work", Promise.resolve([])),
      showMany: () => note("work", Promise.resolve(new Map())),
    },
    sweep: () => note("sweep", sweep()),
    close: () => note("close", Promise.resolve()),
  }
  const { code, stderr } = await runWithApp(app, words)
  return { code, stderr, done }
}

test.each([
  [["call", "sleep"], 0],
  [["approvals"], 0],
  [["approvals", "show", "gone"], 1],
  [["audit"], 0],
])("%j ends expired calls before the app closes, and ignores a failure of that", async (words, code) => {
  const swept = await order(words)
  expect(swept).toMatchObject({ code, done: ["work", "sweep", "close"] })
  expect(await order(words, () => Promise.reject(new Error("The disk is full.")))).toEqual(swept)
})
