import { expect, test } from "vitest"
import { runWithApp, type AppParts } from "../../testing.ts"

const house = (waiting: number, frozen: unknown[], modes: unknown[]): AppParts =>
  ({
    approvals: { count: () => Promise.resolve({ call: waiting, result: 0, question: 0 }) },
    frozen: () => frozen,
    modes: () => modes,
  }) as never

test("qm status says what waits, who is frozen and which modes hold, and by whom", async () => {
  const modes = [
    { mode: "plan", agentId: "dev", by: "ann", at: 0 },
    { mode: "edits", agentId: "bot", sessionId: "s1", by: "eve", at: 0, until: Date.UTC(2026, 0, 31, 12) },
  ]
  const full = house(1, [{ by: "ann", because: "It loops.", at: 0 }], modes)
  const { code, stdout } = await runWithApp(full, ["status"])
  expect(code).toBe(0)
  expect(stdout.replace(/until 2026.*/, "until <time>")).toBe(
    `1 item waiting. 'qm approvals list' shows them.
All agents are frozen by ann: It loops.
Agent dev is in mode plan in all its sessions, set by ann, until somebody ends it.
Agent bot is in mode edits in session s1, set by eve, until <time>
`,
  )
  expect(JSON.parse((await runWithApp(full, ["--json", "status"])).stdout)).toMatchObject({ waiting: 1, modes })
  expect((await runWithApp(house(0, [], []), ["status"])).stdout).toBe(
    "Nothing waits for a person.\nNobody is frozen.\nNo mode is in force: rules and levels decide.\n",
  )
})
