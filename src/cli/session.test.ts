import { expect, test } from "vitest"
import { tamper } from "../store/testing.ts"
import { makeDesk, runOver, type AppParts } from "./testing.ts"

/** Runs a command over an app that writes down what is done with it. */
async function order(words: string[], sweep: () => Promise<void> = () => Promise.resolve()) {
  const done: string[] = []
  const note = <T>(what: string, result: T) => (done.at(-1) === what || done.push(what), result)
  const app: AppParts = {
    on: () => () => {},
    visibleTools: () => [],
    call: () => note("work", Promise.resolve({ success: true, status: "success" } as never)),
    desk: { list: () => note("work", Promise.resolve([])), show: () => note("work", Promise.resolve(undefined)) },
    audit: { list: () => note("work", Promise.resolve([])) },
    sweep: () => note("sweep", sweep()),
    close: () => note("close", Promise.resolve()),
  }
  const { code, stderr } = await runOver(app, words)
  return { code, stderr, done }
}

test.each([
  [["call", "sleep"], 0],
  [["approvals"], 0],
  [["approvals", "show", "gone"], 1],
  [["audit"], 0],
])(
  "%j ends what nobody came back for before the house closes, and a failure of that is nobody's",
  async (words, code) => {
    const swept = await order(words)
    expect(swept).toMatchObject({ code, done: ["work", "sweep", "close"] })
    expect(await order(words, () => Promise.reject(new Error("The disk is full.")))).toEqual(swept)
  },
)

test("with the command line alone a wait past its deadline ends, whatever is asked next", async () => {
  const { run, dataDir } = makeDesk()
  expect((await run("call", "set_env", "key=A", "value=1", "--wait", "0")).code).toBe(4)
  await tamper(dataDir, `update calls set deadline = ${Date.now() - 1}`)
  await run("audit", "list")
  expect(JSON.parse((await run("audit", "list", "--json")).stdout)).toMatchObject([
    { tool: "set_env", code: "approval_expired" },
  ])
})
