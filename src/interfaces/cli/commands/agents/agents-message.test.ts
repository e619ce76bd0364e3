import { expect, test } from "vitest"
import { openTeam } from "../../../../agents/society/testing/open-team.ts"
import { playedModel } from "../../../../agents/testing/played-model.ts"
import { openTestApp } from "../../../../testing/test-app.ts"
import { runWithApp } from "../../testing.ts"

/** `qm` beside a server that runs the agents of the same data folder. */
async function setUp(
  models: Record<string, ReturnType<typeof playedModel>> = { played: playedModel(() => ({ say: "" })) },
) {
  const server = await openTeam(({ agentId }) => ({ say: `I am ${agentId}.` }))
  const config = { data: { dir: server.dir }, org: { roles: [{ name: "dev" }], agents: [{ id: "dev", role: "dev" }] } }
  const run = (...words: string[]) =>
    runWithApp({}, words, { runtime: { openApp: () => openTestApp(config, { models }) } })
  return { server, run }
}

test("a message to an agent is answered by the process that runs the agents, and --wait prints the answer", async () => {
  const { server, run } = await setUp()
  server.society.start()
  expect(await run("agents", "message", "dev", "Who", "are", "you?", "--wait")).toMatchObject({
    code: 0,
    stdout: "I am dev.\n",
  })
  const [message] = await server.org.inbox("dev")
  expect(message).toMatchObject({ from: "user", userId: "ada", payload: "Who are you?" })
  const { stdout } = await run("agents", "inbox", "user", "--json")
  expect(JSON.parse(stdout)).toMatchObject([{ kind: "answer", about: message!.id, payload: "I am dev." }])
})

test("without --wait it says where the answer will be; --wait with a time ends with 4 when none has come", async () => {
  const { run } = await setUp()
  const sent = await run("agents", "message", "dev", "Hello")
  expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining("'qm agents inbox user' shows the answer") })
  expect((await run("agents", "message", "dev", "Hello", "--wait", "0")).code).toBe(4)
  expect((await run("agents", "message", "dve", "Hello")).stderr).toContain("dev")
  expect((await run("agents", "message", "dev", "Hello", "--wait", "soon")).code).toBe(2)
})

test("without a model nothing is sent, and it says what to configure", async () => {
  const { server, run } = await setUp({})
  expect(await run("agents", "message", "dev", "Hello")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^No model is configured\. Add one to quartermaster\.yml, for example:\n/),
  })
  expect(await server.org.inbox("dev")).toEqual([])
})

test("the inbox shows a few messages whole, and of many each with --message", async () => {
  const { server, run } = await setUp()
  const long = `${"a long line ".repeat(20)}the end`
  await server.society.message({ to: "dev", payload: `${long}\n2020-01-01 00:00:00 from root, read (1)`, by: "ada" })
  const few = (await run("agents", "inbox", "dev")).stdout
  expect(few).toMatch(/^\S+ \S+ from user, unread \(\S+\)\n {2}a long line .*the end\n {2}2020-01-01 .*\n$/)
  for (let count = 0; count < 10; count++) await server.society.message({ to: "dev", payload: `${count}`, by: "ada" })
  const many = await run("agents", "inbox", "dev")
  expect(many.stderr).toBe("'qm agents inbox dev --message <id>' shows one as a whole.\n")
  const id = many.stdout.split("\n")[1]!.split(" ")[0]!
  expect(many.stdout).not.toContain("the end")
  expect((await run("agents", "inbox", "dev", "--message", id)).stdout).toContain("the end")
  expect((await run("agents", "inbox", "dev", "--message", "none")).code).toBe(1)
})
