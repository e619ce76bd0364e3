import { expect, test } from "vitest"
import type { App } from "../model/app.ts"
import { runOver } from "./testing.ts"

function houseWith(frozen: ReturnType<App["frozen"]>) {
  const told: unknown[] = []
  const app = {
    freeze: (given: unknown) => (told.push(["freeze", given]), Promise.resolve()),
    thaw: (given: { agentId?: string | undefined }) => {
      told.push(["thaw", given])
      return Promise.resolve(frozen.some(({ agentId }) => agentId === given.agentId))
    },
    frozen: () => frozen,
    setMode: (given: unknown) => (told.push(["mode", given]), Promise.resolve()),
  }
  return { told, run: (...words: string[]) => runOver(app, words) }
}

test("one agent or everyone is frozen and thawed, by a person and with a reason", async () => {
  const { run, told } = houseWith([
    { by: "ada", at: 0 },
    { agentId: "dev", by: "ada", at: 0 },
  ])
  const one = await run("freeze", "--agent", "dev", "--because", "it loops")
  expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining("'qm thaw --agent dev' ends it.") as string })
  expect((await run("--as", "eve", "freeze")).stdout).toMatch(/^Everyone is frozen: .* 'qm thaw' ends it\.\n$/)
  expect((await run("thaw", "--agent", "dev")).stdout).toBe("Agent dev may act again.\n")
  expect((await run("thaw")).stdout).toBe("Everyone may act again.\n")
  expect(told).toEqual([
    ["freeze", { agentId: "dev", by: "ada", because: "it loops" }],
    ["freeze", { by: "eve" }],
    ["thaw", { agentId: "dev", by: "ada" }],
    ["thaw", { by: "ada" }],
  ])
})

test("a thaw that thaws nothing fails, and says what is frozen", async () => {
  expect(await houseWith([]).run("thaw")).toEqual({
    code: 1,
    stdout: "",
    stderr: "There is no freeze of everyone. Nobody is frozen.\n",
  })
  expect((await houseWith([{ by: "ada", at: 0 }]).run("thaw", "--agent", "dev")).stderr).toBe(
    "Agent dev was not frozen itself. What is frozen ends with: qm thaw.\n",
  )
})

test("a session's mode is one of three", async () => {
  const { run, told } = houseWith([])
  expect(await run("mode", "plan", "--session", "dev/2026-01-31")).toMatchObject({
    code: 0,
    stdout: "Session dev/2026-01-31 is in mode plan now.\n",
  })
  expect(told).toEqual([["mode", { sessionId: "dev/2026-01-31", mode: "plan", by: "ada" }]])
  expect(await run("mode", "free", "--session", "s")).toMatchObject({
    code: 2,
    stderr: "mode takes one of plan, ask, edits, and 'free' is none of them.\n",
  })
  expect((await run("mode", "plan")).code).toBe(2)
})
