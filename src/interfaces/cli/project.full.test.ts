import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { dist, makeCli } from "./testing.ts"

/** A project in the home folder, and the command line in any folder of it. */
function makeProject() {
  const cli = makeCli()
  const project = join(cli.home, "project")
  const deep = join(project, "src", "deep")
  mkdirSync(deep, { recursive: true })
  return { ...cli, project, deep, inFolder: (folder: string, ...words: string[]) => cli.run("-C", folder, ...words) }
}

interface Waiting {
  callId: string
  tool: string
  folder?: string
}

test("a call that waits in the project is seen and answered from a subfolder, which gets no store of its own", async () => {
  const { inFolder, project, deep } = makeProject()
  expect((await inFolder(project, "call", "set_env", "key=A", "value=1", "--wait", "0")).code).toBe(4)
  const list = await inFolder(deep, "approvals", "list", "--json")
  const [item, ...others] = JSON.parse(list.stdout) as Waiting[]
  expect(others).toEqual([])
  expect(item).toMatchObject({ tool: "set_env" })
  expect(await inFolder(deep, "approvals", "approve", item!.callId)).toMatchObject({ code: 0 })
  expect(await inFolder(deep, "call", "set_env", "key=A", "value=1", "--wait", "0")).toMatchObject({ code: 0 })
  expect(readdirSync(deep)).toEqual([])
  expect(readFileSync(join(project, ".quartermaster", ".gitignore"), "utf8")).toBe("*\n")
})

test("the project is the workspace: a relative path means the same from every folder of it", async () => {
  const { inFolder, project, deep } = makeProject()
  expect((await inFolder(project, "init")).code).toBe(0)
  writeFileSync(join(project, "notes.txt"), "found")
  expect(await inFolder(deep, "call", "read_file", "path=notes.txt")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("found") as string,
  })
  expect(await inFolder(deep, "trust", "--yes")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(join(project, "quartermaster.yml")) as string,
  })
})

test.each([
  ["tools", "list"],
  ["tools", "show", "sleep"],
  ["groups"],
  ["approvals", "list"],
  ["audit", "list"],
  ["audit", "stats"],
  ["audit", "verify"],
  ["audit", "export"],
  ["rules", "list"],
  ["rules", "test"],
  ["roles"],
  ["agents"],
  ["departments"],
  ["people"],
  ["grants"],
  ["tokens"],
  ["plugins"],
  ["experiments"],
  ["trash"],
  ["mcp", "list"],
  ["why", "sleep", "duration=1"],
  ["doctor"],
  ["start"],
])("qm %s %s %s creates no store", async (...words) => {
  const { run, cwd } = makeCli()
  expect(await run(...words.filter((word) => typeof word === "string"))).toMatchObject({ code: 0 })
  expect(readdirSync(cwd)).toEqual([])
})

test("a reading command still protects the place of the store", async () => {
  const { run, dataDir } = makeCli()
  const { stdout } = await run("why", "write_file", "path=.quartermaster/quartermaster.db", "content=x", "--json")
  expect(JSON.parse(stdout)).toMatchObject({ verdict: "deny" })
  expect(existsSync(dataDir)).toBe(false)
})

test("outside any project, the list shows what waits in the folders this user has used, and how to answer", async () => {
  const { inFolder, run, project, home, cwd } = makeProject()
  const other = join(home, "other project")
  mkdirSync(other)
  expect(await run("approvals", "list")).toMatchObject({ code: 0, stdout: "" })
  for (const folder of [project, other]) {
    expect((await inFolder(folder, "call", "set_env", "key=A", "value=1", "--wait", "0")).code).toBe(4)
  }
  const listed = JSON.parse((await run("approvals", "list", "--json")).stdout) as Waiting[]
  expect(listed.map(({ folder }) => folder)).toEqual([join(other, ".quartermaster"), join(project, ".quartermaster")])
  const shown = await run("approvals", "list")
  expect(shown.stdout).toContain(join(project, ".quartermaster"))
  expect(shown.stderr).toContain(`qm -C '${other}' approvals show ${listed[0]!.callId}`)
  expect(readdirSync(cwd)).toEqual([])
  rmSync(join(other, ".quartermaster"), { recursive: true })
  expect(JSON.parse((await run("approvals", "list", "--json")).stdout)).toHaveLength(1)
})

test("a tool's roles are shown with the line that says so, also to a role without it; why names the line", async () => {
  const { run, write } = makeCli()
  const text = [
    "org: { roles: [{ id: dev, name: Developer }], agents: [{ id: ada, role: dev }] }",
    "tools:",
    "  permissions:",
    "    sleep:",
    "      allowedRoles: [DEV]",
  ]
  write("quartermaster.yml", text.join("\n"))
  await run("trust", "--yes")
  const line = "quartermaster.yml:5 tools.permissions.sleep.allowedRoles"
  const shown = await run("tools", "show", "sleep")
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining(`DEV (${line})`) as string })
  expect(shown.stderr).toContain(line)
  expect(await run("tools", "show", "sleep", "--agent", "root")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining(`limited to the roles DEV (${line})`) as string,
  })
  const own = await run("tools", "show", "sleep", "--agent", "ada")
  expect(own).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining(`DEV (${line})`) as string })
  const why = JSON.parse((await run("why", "sleep", "duration=0", "--json")).stdout) as unknown
  expect(why).toMatchObject({ verdict: "deny", reasons: [{ check: "role", source: line }] })
  expect((await run("call", "sleep", "duration=0")).code).toBe(3)
  expect((await run("call", "sleep", "duration=0", "--agent", "ada")).code).toBe(0)
})

test("a role that an agent made has no tool by its name", async () => {
  const { run, write } = makeCli()
  write("quartermaster.yml", "tools: { permissions: { sleep: { allowedRoles: [Helper] } } }")
  await run("trust", "--yes")
  expect((await run("call", "create_role", "name=helper", "rolePrompt=x", "--agent", "root")).code).toBe(0)
  const roles = JSON.parse((await run("roles", "--json")).stdout) as { id: string; name: string }[]
  const roleId = roles.find(({ name }) => name === "helper")!.id
  const taskBrief = { objective: "Wait.", constraints: [], inputs: "a", outputs: "b", completion_criteria: "c" }
  const spawned = await run("call", "spawn_agent", JSON.stringify({ roleId, taskBrief }), "--agent", "root")
  expect(spawned).toMatchObject({ code: 0 })
  const ids = JSON.parse((await run("agents", "--json")).stdout) as { id: string; roleId: string; createdBy: string }[]
  const child = ids.find(({ createdBy }) => createdBy === "root")!
  const why = JSON.parse((await run("why", "sleep", "duration=0", "--agent", child.id, "--json")).stdout) as unknown
  expect(why).toMatchObject({ verdict: "deny", reasons: [{ code: "role_made_by_agent" }] })
})

test("what needs a variable that is not set fails when it is used, and names it", async () => {
  const { run, write } = makeCli()
  const text = [
    "tools: { webSearch: { provider: tavily, apiKey: '${NO_KEY}' } }",
    "mcpServers: { tickets: { url: 'https://t.example', headers: { Authorization: 'Bearer ${NO_TOKEN}' } } }",
  ]
  write("quartermaster.yml", text.join("\n"))
  expect((await run("trust", "--yes")).code).toBe(0)
  const fine = await run("call", "current_time")
  expect(fine.code).toBe(0)
  expect(fine.stderr.match(/^Warning: .*NO_(KEY|TOKEN) is not set/gm)).toHaveLength(2)
  expect(await run("call", "web_search", "query=x", "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("needs the environment variable NO_KEY, which is not set") as string,
  })
  expect(JSON.parse((await run("mcp", "list", "--json")).stdout)).toMatchObject([
    { name: "tickets", problem: expect.stringContaining("NO_TOKEN") as string },
  ])
})

test("a data folder made by a program with the library is known to the command line of the same user, and only then", async () => {
  const { write, script, inFolder, run, cwd, home, dataDir } = makeProject()
  write(
    "host.mjs",
    `import { createQuartermaster } from ${JSON.stringify(join(dist, "index.js"))}
const app = await createQuartermaster({ data: { dir: process.argv[2] } })
await app.call({ agentId: "operator", tool: "current_time", input: {} })
await app.close()`,
  )
  const host = (...words: string[]) => new Promise((resolve) => script("host.mjs", ...words).on("close", resolve))
  expect(await host(dataDir)).toBe(0)
  expect(JSON.parse((await run("audit", "list", "--json")).stdout)).toHaveLength(1)
  const notes = join(home, ".config", "quartermaster", "folders")
  expect(readdirSync(notes)).toHaveLength(1)

  // A folder with data of others is used by the program that names it, and not noted.
  const brought = join(cwd, "brought")
  mkdirSync(brought, { mode: 0o700 })
  mkdirSync(join(brought, ".quartermaster"), { mode: 0o700 })
  writeFileSync(join(brought, ".quartermaster", "store.id"), `${"0".repeat(32)}\n`, { mode: 0o600 })
  expect(await host(join(brought, ".quartermaster"))).toBe(0)
  expect(readdirSync(notes)).toHaveLength(1)
  expect(await inFolder(brought, "audit", "list")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("was not created by you on this machine") as string,
  })
  expect(readFileSync(join(dataDir, ".gitignore"), "utf8")).toBe("*\n")
})
