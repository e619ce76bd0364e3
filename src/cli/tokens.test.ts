import { createHash } from "node:crypto"
import { expect, test } from "vitest"
import { open } from "../testing/open.ts"
import { runOver } from "./testing.ts"

const config = {
  org: {
    roles: [{ name: "worker" }],
    agents: [
      { id: "dev", role: "worker" },
      { id: "ops", role: "worker" },
    ],
  },
}

/** A real house that stays open between the commands run over it, as the person ada. */
async function desk() {
  const house = await open(config)
  const app = { ...house, close: () => Promise.resolve() }
  const run = (line: string) => runOver({}, line.split(" "), { house: { open: () => Promise.resolve(app) } })
  return { house, run }
}

test("a token is shown once; what lists it shows neither it nor its hash", async () => {
  const { house, run } = await desk()
  const created = await run("tokens create --agent dev --name laptop --json")
  const { token, id, ...entry } = JSON.parse(created.stdout) as { token: string; id: string }
  expect(created.code).toBe(0)
  expect(entry).toMatchObject({ agentId: "dev", name: "laptop", createdBy: "ada" })
  expect(entry).not.toHaveProperty("person")
  expect(house.tokens.holder(token)?.id).toBe(id)
  const shown = [await run("tokens"), await run("tokens list --json"), await run(`tokens revoke ${id} --json`)]
  const hash = createHash("sha256").update(token).digest("hex")
  for (const { code, stdout, stderr } of shown) {
    expect(code).toBe(0)
    expect(stdout).toContain(id)
    expect(stdout + stderr).not.toMatch(new RegExp(`${token.slice(4)}|${hash}|tokenHash`))
  }
  expect(house.tokens.holder(token)).toBeUndefined()
})

test("for people, it is said whose it is, until when, and how it is used and ended", async () => {
  const { run } = await desk()
  const { stdout } = await run("tokens create --agent dev --person me --expires 12h")
  expect(stdout).toMatch(
    /^This token is shown only now\. Whoever has it speaks for dev, and answers given there count as ada's, until 20.*:\n {2}qma_[\w-]{43}\nSend it as 'Authorization: Bearer <token>'.*\n'qm tokens revoke tok_\w+' ends it\.\n$/,
  )
})

test("the list is of one agent where one is named", async () => {
  const { run } = await desk()
  await run("tokens create --agent dev --name one")
  await run("tokens create --agent ops --name two --expires never")
  expect(JSON.parse((await run("tokens --agent ops --json")).stdout)).toMatchObject([{ name: "two", expiresAt: null }])
  expect((await run("tokens --agent nobody")).stderr).toBe(
    "There is no token yet. 'qm tokens create --agent <id>' makes one.\n",
  )
})

test.each([
  ["tokens create", 2, "Say for which agent the token speaks: --agent <id>."],
  ["tokens create --agent nobody", 1, "There is no agent 'nobody', or it has ended."],
  [
    "tokens create --agent dev --expires soon",
    2,
    "--expires takes a time such as 12h, 90d or 4w, or never, and 'soon'",
  ],
  ["tokens create --agent dev --expires 0d", 2, "and '0d' is none."],
  [
    "tokens create --agent dev --person bob",
    3,
    "You speak as ada, so a token's answers cannot count as those of 'bob'.",
  ],
  ["tokens revoke nothing", 1, "No token has the id 'nothing'."],
  ["tokens rvoke x", 2, "Did you mean 'qm tokens revoke'?"],
])("'qm %s' ends with %i and says what to do", async (line, code, sentence) => {
  const { house, run } = await desk()
  const ended = await run(line)
  expect(ended).toMatchObject({ code, stdout: "" })
  expect(ended.stderr).toContain(sentence)
  expect(house.tokens.list()).toEqual([])
})
