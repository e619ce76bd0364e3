import { expect, test } from "vitest"
import { openTestApp } from "../../../testing/test-app.ts"
import { runWithApp } from "../testing.ts"

const person = { kind: "person", id: "pat" } as const
const root = { kind: "agent", id: "root" } as const

/** A real app, with people, roles and agents that people named, and one agent that root made. */
async function openOrganisation() {
  const app = await openTestApp({
    org: {
      people: [{ id: "pat" }],
      roles: [{ name: "writer", toolGroups: ["workspace"] }],
      agents: [{ id: "wendy", role: "writer" }],
    },
  })
  await app.org.createPerson({ id: "bobby" }, person)
  await app.org.createDepartment({ id: "sales" }, person)
  const { role } = await app.org.createRole({ name: "tester", toolGroups: [] }, root)
  const brief = { objective: "Test.", constraints: [], inputs: "", outputs: "", completion_criteria: "" }
  const made = async () => (await app.org.createAgent({ role: role.id, taskBrief: brief }, root)).id
  const run = (line: string) => runWithApp({ ...app, close: () => Promise.resolve() }, line.split(" "))
  return { app, run, made }
}

test.each([
  "agents show <id>",
  "agents inbox <id>",
  "agents create helper --role writer --parent <id>",
  "agents terminate <id>",
  "freeze --agent <id>",
  "thaw --agent <id>",
  "mode plan --agent <id>",
  "tokens create --agent <id>",
  "tools list --agent <id>",
  "why sleep duration=1 --agent <id>",
])("an agent that an agent made is found by the first characters of its id: qm %s", async (line) => {
  const { app, run, made } = await openOrganisation()
  const id = await made()
  if (line.startsWith("thaw")) await app.freeze({ agentId: id, by: "pat" })
  const { code, stdout, stderr } = await run(line.replace("<id>", id.slice(0, -2)))
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("There is no") })
  if (/show|terminate|freeze|thaw|mode|tokens/.test(line)) expect(stdout).toContain(id)
})

test("the first characters of several agents' ids mean none of them", async () => {
  const { run, made } = await openOrganisation()
  const ids = [await made(), await made()]
  const { code, stderr } = await run("agents show tester-")
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Several ids begin with 'tester-'/),
  })
  for (const id of ids) expect(stderr).toContain(id)
})

test.each(["audit list", "grants list", "tokens list", "trash list", "approvals list"])(
  "entries of one agent are listed by the first characters of its id: qm %s",
  async (line) => {
    const { app, run, made } = await openOrganisation()
    const id = await made()
    await app.call({ tool: "sleep", input: { duration: 0 }, agentId: id })
    await app.tokens.create({ agentId: id, name: "x" }, "pat")
    const whole = await run(`${line} --json --agent ${id}`)
    expect(await run(`${line} --json --agent ${id.slice(0, -2)}`)).toEqual(whole)
    if (/audit|tokens/.test(line)) expect(JSON.parse(whole.stdout)).toHaveLength(1)
  },
)

test("a group that no tool of the agent is in is guessed", async () => {
  const { run } = await openOrganisation()
  const { code, stderr } = await run("tools list --group workspac")
  expect({ code, stderr }).toEqual({ code: 0, stderr: "This agent may use no tool here. Did you mean 'workspace'?\n" })
})

test.each([
  ["agents show wend", "wendy"],
  ["agents terminate wend", "wendy"],
  ["agents inbox wend", "wendy"],
  ["agents message wend hello", "wendy"],
  ["agents create x --role write", "writer"],
  ["agents create x --role writer --parent wend", "wendy"],
  ["freeze --agent wend", "wendy"],
  ["mode plan --agent wend", "wendy"],
  ["tokens create --agent wend", "wendy"],
  ["tools list --agent wend", "wendy"],
  ["people show bobb", "bobby"],
  ["people update bobb --name B", "bobby"],
  ["people token bobb", "bobby"],
  ["people delete bobb", "bobby"],
  ["roles show write", "writer"],
  ["roles update teste --level 2", "tester"],
  ["roles delete teste", "tester"],
  ["departments rename sale --name S", "sales"],
  ["departments delete sale", "sales"],
  ["tools show write_fil", "write_file"],
  ["groups show workspac", "workspace"],
])("a name that somebody chose is written whole; the nearest is guessed: qm %s", async (line, guess) => {
  const { run } = await openOrganisation()
  const { code, stderr } = await run(line)
  expect(code).not.toBe(0)
  expect(stderr).toContain(`Did you mean '${guess}'?`)
})
