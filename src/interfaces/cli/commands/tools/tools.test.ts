import { expect, test } from "vitest"
import { openTestApp } from "../../../../testing/test-app.ts"
import { runWithApp } from "../../testing.ts"

async function setUp() {
  const dialects = ["native", "claude", "classic"] as const
  const app = await openTestApp({
    org: {
      roles: dialects.map((dialect) => ({ name: dialect, dialect })),
      agents: dialects.map((id) => ({ id, role: id })),
    },
  })

  return (...words: string[]) => runWithApp({ ...app, close: () => Promise.resolve() }, ["tools", ...words])
}

test("an agent's tools are listed by the names of its dialect", async () => {
  const run = await setUp()
  const names = async (...words: string[]) =>
    (JSON.parse((await run("list", "--json", ...words)).stdout) as { name: string }[]).map(({ name }) => name)
  const [native, claude, classic] = await Promise.all(["native", "claude", "classic"].map((id) => names("--agent", id)))
  expect(native).toEqual(expect.arrayContaining(["read_file", "run_command", "get_file_info"]))
  expect(native).not.toContain("Read")
  expect(claude).toEqual(expect.arrayContaining(["Read", "Bash", "get_file_info"]))
  expect(claude).not.toContain("read_file")
  expect(classic).toEqual(expect.arrayContaining(["file_read", "shell_exec", "edit_file"]))
  expect([claude?.length, classic?.length]).toEqual([native?.length, native?.length])
  expect(await names("--agent", "claude", "--group", "command")).toEqual(expect.arrayContaining(["Bash", "KillBash"]))
  expect((await run("list", "--agent", "claude")).stdout).toMatch(/^Bash +command +sensitive +execute +Run a command/m)
})

test("a tool is shown by the name of the dialect, and by its own with its own parameters", async () => {
  const run = await setUp()
  const show = async (name: string, agent: string) =>
    JSON.parse((await run("show", name, "--agent", agent, "--json")).stdout) as object
  const read = { name: "Read", id: "system:read_file@1.0.0", input: { required: ["file_path"] } }
  expect(await show("Read", "claude")).toMatchObject(read)
  expect(await show("Read@1.0.0", "claude")).toMatchObject(read)
  expect(await show("read_file", "claude")).toMatchObject({ name: "read_file", id: read.id })
  expect(await show("Read", "native")).toMatchObject({ name: "read_file", id: read.id, input: read.input })
  expect(await show("Bash", "native")).toMatchObject({ id: "system:run_command@1.0.0" })
  expect(await show("read_file", "native")).toMatchObject({ name: "read_file", id: read.id })
  expect(await run("show", "Grepp", "--agent", "claude")).toMatchObject({
    code: 1,
    stderr: "There is no tool 'Grepp' for this agent. Did you mean 'Grep'?\n",
  })
})

test.each(["why rol_dice", "tools show rol_dice", "call rol_dice"])(
  "of a tool that there is not, the plugins that were not loaded are named: qm %s",
  async (line) => {
    const app = await openTestApp({ plugins: ["./dice.mjs"] })
    const { stderr } = await runWithApp({ ...app, close: () => Promise.resolve() }, line.split(" "))
    expect(stderr).toMatch(/It may be a tool of a plugin that was not loaded\. .*dice.*'qm plugins list' shows all\.$/m)
    const known = line.replace("rol_dice", "sleep").replace("call", "why")
    expect((await runWithApp({ ...app, close: () => Promise.resolve() }, known.split(" "))).stderr).not.toContain(
      "plugin",
    )
  },
)
