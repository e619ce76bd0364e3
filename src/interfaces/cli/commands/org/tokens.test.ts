import { createHash } from "node:crypto"
import { expect, test } from "vitest"
import { openTestApp } from "../../../../testing/test-app.ts"
import { runWithApp } from "../../testing.ts"

const config = {
  org: {
    roles: [{ name: "worker" }],
    agents: [
      { id: "dev", role: "worker" },
      { id: "ops", role: "worker" },
    ],
  },
}

/** A real app that stays open between commands, which run as the person ada. */
async function setUp() {
  const app = await openTestApp(config)
  const staysOpen = { ...app, close: () => Promise.resolve() }
  const run = (line: string) =>
    runWithApp({}, line.split(" "), { runtime: { openApp: () => Promise.resolve(staysOpen) } })
  return { app, run }
}

test("a token is shown once; what lists it shows neither it nor its hash", async () => {
  const { app, run } = await setUp()
  const created = await run("tokens create --agent dev --name laptop --json")
  const { token, id, ...entry } = JSON.parse(created.stdout) as { token: string; id: string }
  expect(created.code).toBe(0)
  expect(entry).toMatchObject({ agentId: "dev", name: "laptop", createdBy: "ada" })
  expect(entry).not.toHaveProperty("person")
  expect(app.tokens.holder(token)?.id).toBe(id)
  const shown = [await run("tokens"), await run("tokens list --json"), await run(`tokens revoke ${id} --json`)]
  const hash = createHash("sha256").update(token).digest("hex")
  for (const { code, stdout, stderr } of shown) {
    expect(code).toBe(0)
    expect(stdout).toContain(id)
    expect(stdout + stderr).not.toMatch(new RegExp(`${token.slice(4)}|${hash}|tokenHash`))
  }
  expect(app.tokens.holder(token)).toBeUndefined()
})

test("creating a token prints its agent, expiry and how to use and revoke it", async () => {
  const { run } = await setUp()
  const { stdout } = await run("tokens create --agent dev --person me --expires 12h")
  expect(stdout).toMatch(
    /^This token is shown only now\. It lets a program call tools as dev, and answers given with it count as ada's, until 20.*:\n {2}qma_[\w-]{43}\nSend it as 'Authorization: Bearer <token>'.*\n'qm tokens revoke tok_\w+' revokes it\.\n$/,
  )
})

test("the list can be filtered by agent", async () => {
  const { run } = await setUp()
  await run("tokens create --agent dev --name one")
  await run("tokens create --agent ops --name two --expires never")
  expect(JSON.parse((await run("tokens --agent ops --json")).stdout)).toMatchObject([{ name: "two", expiresAt: null }])
  expect((await run("tokens --agent nobody")).stderr).toBe(
    "There is no token yet. 'qm tokens create --agent <id>' creates one.\n",
  )
})

test.each([
  ["tokens create", 2, "Name the agent the token is for: --agent <id>."],
  ["tokens create --agent nobody", 2, "There is no agent 'nobody'."],
  ["tokens create --agent dve", 2, "There is no agent 'dve'. Did you mean 'dev'?"],
  [
    "tokens create --agent dev --expires soon",
    2,
    "--expires takes a time such as 12h, 90d or 4w, or never, and 'soon'",
  ],
  ["tokens create --agent dev --expires 0d", 2, "and '0d' is none."],
  [
    "tokens create --agent dev --person bob",
    3,
    "You are ada, so you cannot create a token whose answers count as those of 'bob'.",
  ],
  ["tokens revoke nothing", 1, "No token has the id 'nothing'."],
  ["tokens rvoke x", 2, "Did you mean 'qm tokens revoke'?"],
])("'qm %s' ends with %i and says what to do", async (line, code, sentence) => {
  const { app, run } = await setUp()
  const ended = await run(line)
  expect(ended).toMatchObject({ code, stdout: "" })
  expect(ended.stderr).toContain(sentence)
  expect(app.tokens.list()).toEqual([])
})
