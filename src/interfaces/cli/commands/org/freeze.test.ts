import { expect, test } from "vitest"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { runWithApp } from "../../testing.ts"

function houseWith(frozen: ReturnType<Quartermaster["frozen"]>) {
  const received: unknown[] = []
  const app = {
    freeze: (given: unknown) => (received.push(["freeze", given]), Promise.resolve()),
    thaw: (given: { agentId?: string }) => {
      received.push(["thaw", given])
      return Promise.resolve(frozen.some(({ agentId }) => agentId === given.agentId))
    },
    frozen: () => frozen,
    setMode: (given: unknown) => (received.push(["mode", given]), Promise.resolve()),
  }
  return { received, run: (...words: string[]) => runWithApp(app, words) }
}

test("a person freezes and thaws one agent or all agents, with a reason", async () => {
  const { run, received } = houseWith([
    { by: "ada", at: 0 },
    { agentId: "dev", by: "ada", at: 0 },
  ])
  const one = await run("freeze", "--agent", "dev", "--reason", "it loops")
  expect(one).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("'qm thaw --agent dev' ends the freeze.") as string,
  })
  expect((await run("--as", "eve", "freeze")).stdout).toMatch(
    /^All agents are frozen: .* 'qm thaw' ends the freeze\.\n$/,
  )
  expect((await run("thaw", "--agent", "dev")).stdout).toBe("Agent dev may make calls again.\n")
  expect((await run("thaw")).stdout).toBe("Agents may make calls again.\n")
  expect(received).toEqual([
    ["freeze", { agentId: "dev", by: "ada", because: "it loops" }],
    ["freeze", { by: "eve" }],
    ["thaw", { agentId: "dev", by: "ada" }],
    ["thaw", { by: "ada" }],
  ])
})

test("a thaw that ends no freeze fails and lists the freezes", async () => {
  expect(await houseWith([]).run("thaw")).toEqual({
    code: 1,
    stdout: "",
    stderr: "There is no freeze of all agents. No agent is frozen.\n",
  })
  expect((await houseWith([{ by: "ada", at: 0 }]).run("thaw", "--agent", "dev")).stderr).toBe(
    "Agent dev was not frozen itself. To end other freezes: qm thaw.\n",
  )
})

test("a mode is one of three, and a plan is the agent's in all its sessions", async () => {
  const { run, received } = houseWith([])
  expect(await run("mode", "plan", "--agent", "dev")).toMatchObject({
    code: 0,
    stdout:
      "Agent dev and its sub-agents are now in mode plan, in all their sessions. 'qm mode ask --agent dev' ends it.\n",
  })
  expect(received).toEqual([["mode", { agentId: "dev", mode: "plan", by: "ada" }]])
  expect(await run("mode", "free", "--session", "s")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("mode takes one of plan, ask, edits, and 'free' is none of them."),
  })
  expect((await run("mode", "edit")).stderr).toContain("'edit' is none of them. Did you mean 'edits'?")
})

test("without a mode, the agent's mode is shown with the commands that change it", async () => {
  const run = (...words: string[]) => runWithApp({ modeOf: () => "plan" } as never, words)
  expect(await run("mode", "--agent", "dev", "--session", "s")).toEqual({
    code: 0,
    stdout: "Agent dev is in mode plan in session s. 'qm mode ask' or 'qm mode edits' changes it.\n",
    stderr: "",
  })
})

test("without --session the mode edits is set for today's session of the agent", async () => {
  const { run, received } = houseWith([])
  expect((await run("mode", "edits", "--agent", "dev")).code).toBe(0)
  expect(received).toEqual([
    ["mode", { agentId: "dev", sessionId: expect.stringMatching(/^dev\/\d{4}-\d\d-\d\d$/), mode: "edits", by: "ada" }],
  ])
})

test.each([[["freeze"]], [["agents", "terminate", "operatr"]]])(
  "%j of an agent written nearly right is guessed",
  async (words) => {
    const org = { findAgent: () => undefined, listAgents: () => [{ id: "operator" }] } as never
    expect(await runWithApp({ org }, [...words, "--agent", "operatr"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("There is no agent 'operatr'. Did you mean 'operator'?") as string,
    })
  },
)
