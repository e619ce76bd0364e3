import { expect, test } from "vitest"
import { openTestApp, temporaryFolder } from "../testing/test-app.ts"
import { translate } from "./translate.ts"

/** Returns the offers to an approver to remember a call that moves a file. */
async function offered() {
  const workspace = temporaryFolder()
  const app = await openTestApp(
    { org: { roles: [{ name: "developer", toolGroups: ["workspace"] }], agents: [{ id: "dev", role: "developer" }] } },
    { workspace },
  )
  const input = { from: "a.md", to: "b.md" }
  await app.call({ agentId: "dev", tool: "move_file", input, taskId: "t-1", sessionId: "s-1" }, { waitMs: 0 })
  const [item] = await app.approvals.list()
  const messages = item!.remember.map(({ scope, words, params }) => ({
    code: `remember_${scope}`,
    params,
    text: words,
  }))
  return { workspace, messages }
}

test("in English each sentence is the one that the server wrote", async () => {
  const { messages } = await offered()
  expect(messages).toHaveLength(5)
  for (const message of messages) expect(translate(message, "en")).toBe(message.text)
})

test("in Chinese each sentence names the folder, what may be touched and how long", async () => {
  const { workspace, messages } = await offered()
  const said = Object.fromEntries(messages.map((message) => [message.code, translate(message, "zh")]))
  for (const sentence of Object.values(said)) expect(sentence).toContain(workspace)
  for (const scope of ["tool-session", "task", "minutes", "tool-always"])
    expect(said[`remember_${scope}`]).toContain("不得超出：写入 a.md、写入 b.md")
  expect(said["remember_input-session"]).toMatch(/s-1.*完全相同的输入.*一天/)
  expect(said["remember_tool-session"]).toMatch(/s-1.*一天/)
  expect(said["remember_task"]).toMatch(/t-1.*一天/)
  expect(said["remember_minutes"]).toContain("30 分钟")
  expect(said["remember_tool-always"]).toContain("撤销")
})

test("both languages say the minutes that the person chose", async () => {
  const { messages } = await offered()
  const message = messages.find(({ code }) => code === "remember_minutes")!
  const chosen = { ...message, params: { ...message.params, minutes: 240 } }
  expect(translate(chosen, "en")).toBe(message.text.replace("30 minutes", "240 minutes"))
  expect(translate(chosen, "zh")).toContain("240 分钟")
})
