import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { makeCli } from "./testing.ts"

const code = (folder: string) => ({
  code: 2,
  stdout: "",
  stderr: expect.stringContaining(`The folder ${folder} was not created by you on this machine.`) as string,
})

/** A folder that one user made, with a grant, a role and a rule in it, as another user finds it in a clone. */
async function makeClone() {
  const theirs = makeCli()
  await theirs.run("roles", "create", "--name", "master", "--groups", "system")
  await theirs.run("agents", "create", "--id", "evil", "--role", "master")
  const waiting = theirs.start("call", "set_env", "key=A", "value=1", "--agent", "evil")
  const ended = new Promise((resolve) => waiting.on("close", resolve))
  const id = await waitingId(theirs)
  await theirs.run("approvals", "approve", id, "--remember", "tool-always")
  await ended
  const ours = makeCli()
  cpSync(theirs.dataDir, ours.dataDir, { recursive: true })
  return ours
}

async function waitingId({ run }: ReturnType<typeof makeCli>): Promise<string> {
  for (;;) {
    const { stdout } = await run("approvals", "list", "--json")
    const [item] = JSON.parse(stdout) as { callId: string }[]
    if (item !== undefined) return item.callId
  }
}

test("a data folder from elsewhere is not used until a person has seen its content and trusts it", async () => {
  const { run, dataDir } = await makeClone()
  for (const words of [["call", "current_time"], ["audit", "list"], ["approvals", "list"], ["start"]]) {
    expect(await run(...words)).toEqual(code(dataDir))
  }
  expect(await run("doctor")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("was not created by you on this machine") as string,
  })
  const trusted = await run("trust", "--yes", "--data", ".quartermaster")
  expect(trusted).toMatchObject({ code: 0, stderr: "" })
  expect(trusted.stdout).toContain(
    `${dataDir}\nOnce it is trusted, this applies:\n  remembered answers: 1\n    Agent evil may call set_env`,
  )
  expect(trusted.stdout).toContain("  roles: 1\n    master: system\n")
  expect(trusted.stdout).toContain("  agents: 1\n    evil, role ")
  expect(trusted.stdout).toContain("Trusted, as long as it stays where it is.")
  expect(await run("call", "current_time")).toMatchObject({ code: 0, stderr: "" })
})

test("a named folder is used as it is; a new one created by naming it is remembered", async () => {
  const { run, dataDir } = await makeClone()
  expect(await run("--data", ".quartermaster", "call", "current_time")).toMatchObject({ code: 0, stderr: "" })
  expect(await run("call", "current_time")).toEqual(code(dataDir))
  rmSync(dataDir, { recursive: true })
  expect(await run("--data", ".quartermaster", "call", "current_time")).toMatchObject({ code: 0, stderr: "" })
  expect(await run("call", "current_time")).toMatchObject({ code: 0, stderr: "" })
})

test("a cloned folder in the place of a known one is not used", async () => {
  const { run, dataDir, cwd } = await makeClone()
  renameSync(dataDir, join(cwd, "brought"))
  expect(await run("call", "current_time")).toMatchObject({ code: 0 })
  rmSync(dataDir, { recursive: true })
  renameSync(join(cwd, "brought"), dataDir)
  expect(await run("call", "current_time")).toEqual(code(dataDir))
  rmSync(dataDir, { recursive: true })
  symlinkSync(join(cwd, "elsewhere"), dataDir)
  mkdirSync(join(cwd, "elsewhere"))
  expect(await run("call", "current_time")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("This data folder is a link") as string,
  })
})

test("a log or key in the place of a new database is not used", async () => {
  const { run, dataDir } = makeCli()
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, "quartermaster.db-wal"), "prepared", { mode: 0o600 })
  expect(await run("call", "current_time")).toEqual(code(dataDir))
})

test("qm trust takes a file or a folder, and only a folder with data", async () => {
  const { run, write } = makeCli()
  write("quartermaster.yml", "agent: operator")
  expect(await run("trust", "--yes", "quartermaster.yml", "--data", ".quartermaster")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Trust one thing at a time: a configuration file, or --data <folder>."),
  })
  expect(await run("trust", "--yes", "--data", "nowhere")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("There is no data in this folder.") as string,
  })
})

test("commands that create the same folder at once all work", async () => {
  const { run } = makeCli()
  const all = await Promise.all([run("call", "current_time"), run("call", "current_time"), run("tools", "--json")])
  expect(all).toEqual(all.map(({ stdout }) => ({ code: 0, stdout, stderr: "" })))
})
