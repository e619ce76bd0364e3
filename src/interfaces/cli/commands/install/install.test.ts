import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../../../testing/test-app.ts"
import { runWithApp, type AppParts } from "../../testing.ts"

/** Runs `qm install` in a real folder without a terminal. */
function setUp(parts: AppParts = {}) {
  const cwd = temporaryFolder()
  const org = { findAgent: (id: string) => (id === "operator" ? ({ id, status: "active" } as never) : undefined) }
  const run = (line: string) => runWithApp({ org, ...parts }, [...line.split(" "), "--no-hooks"], { cwd })
  return { cwd, run, file: join(cwd, ".mcp.json") }
}

function backupsIn(cwd: string): string[] {
  const folder = join(cwd, "home", ".config", "quartermaster", "backups")
  return readdirSync(folder).map((name) => join(folder, name))
}

test("without --yes and without a terminal, the change is shown and not made", async () => {
  const { run, file } = setUp()
  const { code, stdout, stderr } = await run("install claude")
  expect([code, existsSync(file)]).toEqual([2, false])
  expect(stdout).toContain(`${file}\n  + {\n`)
  expect(stderr).toContain("add --yes.")
})

test("with --yes the change is made with a backup, and a second run changes nothing", async () => {
  const { cwd, run, file } = setUp()
  writeFileSync(file, "{} // mine\n")
  const { code, stderr } = await run("install claude --yes")
  expect(code).toBe(0)
  const [backup] = backupsIn(cwd)
  expect(stderr).toContain(`Wrote ${file}.\nThe previous version is in ${backup}.\n`)
  expect(readFileSync(file, "utf8")).toMatch(/"quartermaster": \{(.|\n)*\} \/\/ mine\n$/)
  expect(readFileSync(backup!, "utf8")).toBe("{} // mine\n")
  expect(JSON.parse((await run("install claude --json")).stdout)).toMatchObject({ written: false, backup: null })
})

test("secrets in the client's file are not printed, references to variables are, and the copy is only for its owner", async () => {
  const { cwd, run, file } = setUp()
  const servers = {
    a: { command: "a", env: { API_KEY: "in-clear-1", REF: "x", TOKEN: "${A_TOKEN}" } },
    b: { url: "http://b", headers: { Authorization: "Bearer in-clear-2" } },
    c: { command: "c", args: ["--api-key", "in-clear-3"] },
  }
  for (const indent of [0, 2]) {
    writeFileSync(file, JSON.stringify({ mcpServers: servers }, null, indent))
    chmodSync(file, 0o644)
    const { stdout, stderr } = await run("install claude --yes")
    expect(stdout + stderr).not.toContain("in-clear")
    expect(readFileSync(file, "utf8")).toMatch(/in-clear-1(.|\n)*in-clear-2(.|\n)*in-clear-3/)
    if (indent === 0) expect(stdout).toContain('"API_KEY":"***","REF":"x","TOKEN":"${A_TOKEN}"')
  }
  expect(backupsIn(cwd).map((copy) => statSync(copy).mode & 0o777)).toEqual([0o600, 0o600])
  expect(readdirSync(cwd).filter((name) => name !== "home")).toEqual([".mcp.json"])
})

test("servers that the client still starts itself are named, and --replace removes those that Quartermaster has", async () => {
  const { run, file } = setUp({ mcp: { list: () => [{ name: "files" } as never] } })
  writeFileSync(file, JSON.stringify({ mcpServers: { files: { command: "f" }, other: { command: "o" } } }))
  const { stderr } = await run("install claude --yes")
  expect(stderr).toContain(
    "Warning: the client still starts files, other itself, and those calls go around Quartermaster.\n",
  )
  expect(stderr).toContain(
    `Quartermaster has files too. To remove from ${file} what it has: qm install claude --replace\n`,
  )
  const replaced = await run("install claude --replace --yes")
  expect(replaced.stderr).toContain("still starts other itself")
  expect(replaced.stderr).toContain("Quartermaster does not have other: add each under mcpServers")
  const { mcpServers } = JSON.parse(readFileSync(file, "utf8")) as { mcpServers: object }
  expect(Object.keys(mcpServers)).toEqual(["other", "quartermaster"])
})

test("in a folder that may not be written, it ends with a sentence", async () => {
  // The superuser may write everywhere, except where the system itself says no.
  const cwd = process.getuid?.() === 0 ? "/sys" : temporaryFolder()
  if (cwd !== "/sys") chmodSync(cwd, 0o500)
  const { code, stderr } = await runWithApp({}, ["install", "claude", "--yes", "--no-hooks"], { cwd })
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^You may not write \/.* \(E\w+\)\. Give the path of/)])
})

test("an unknown client is refused with the nearest name, and nothing is written", async () => {
  const { cwd, run } = setUp()
  const { code, stderr } = await run("install claud --yes")
  expect([code, stderr]).toEqual([2, expect.stringContaining("Did you mean 'claude'?")])
  expect(readdirSync(cwd)).not.toContain("claud")
})

test("what is written has no path of this machine, so it can be shared", async () => {
  const { cwd, run, file } = setUp()
  await run("install claude --yes")
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    mcpServers: { quartermaster: { command: "qm", args: ["mcp", "--agent", "operator"] } },
  })
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "quartermaster" }))
  await run("install cursor --yes")
  expect(JSON.parse(readFileSync(join(cwd, ".cursor/mcp.json"), "utf8"))).toMatchObject({
    mcpServers: {
      quartermaster: {
        command: "npx",
        args: ["--no", "qm", "-C", "${workspaceFolder}", "mcp", "--agent", "operator"],
      },
    },
  })
})

test("an unknown agent is refused before any file is read", async () => {
  const { run, file } = setUp()
  expect(await run("install claude --agent nobody --yes")).toMatchObject({ code: 1, stdout: "" })
  expect(existsSync(file)).toBe(false)
})

/** An agent with that many tools, the first five of which are in the group `workspace` and the rest in `data`. */
function withTools(count: number) {
  const cwd = temporaryFolder()
  const parts: AppParts = {
    mcpTools: () => Array.from({ length: count }, (_, at) => ({ name: `t${at}` }) as never),
    visibleTool: (_: string, name: string) => ({ group: Number(name.slice(1)) < 5 ? "workspace" : "data" }) as never,
  }
  const run = (...more: string[]) => runWithApp(parts, ["install", "claude", "--yes", "--no-hooks", ...more], { cwd })
  const args = () =>
    (JSON.parse(readFileSync(join(cwd, ".mcp.json"), "utf8")) as { mcpServers: { quartermaster: { args: string[] } } })
      .mcpServers.quartermaster.args
  return { run, args }
}

test("of many tools the client is shown the usual groups, and the message says which and how to have more", async () => {
  const { run, args } = withTools(45)
  const { stderr } = await run()
  expect(args()).toEqual(["mcp", "--agent", "operator", "--builtin", "workspace,command,network"])
  expect(stderr).toContain("The client is shown 5 of the 45 tools of agent operator (1 kB)")
  expect(stderr).toContain("  qm install claude --builtin all\n")
})

test("an agent that has only the usual groups is not advised to choose them", async () => {
  const cwd = temporaryFolder()
  const many = Array.from({ length: 45 }, (_, at) => ({ name: `t${at}` }) as never)
  const parts = (group: string): AppParts => ({ mcpTools: () => many, visibleTool: () => ({ group }) as never })
  const advice = async (group: string) =>
    (
      await runWithApp(parts(group), ["install", "claude", "--yes", "--no-hooks", "--replace", "--agent", "dev"], {
        cwd,
      })
    ).stderr
  expect(await advice("data")).toContain("Models choose better from fewer")
  expect(await advice("workspace")).not.toContain("--builtin")
})

test.each([
  [
    ["--builtin", "all"],
    ["mcp", "--agent", "operator"],
  ],
  [
    ["--builtin", "data,code"],
    ["mcp", "--agent", "operator", "--builtin", "data,code"],
  ],
  [
    ["--agent", "dev"],
    ["mcp", "--agent", "dev"],
  ],
])("which tools the client is shown can be chosen: %j", async (more, written) => {
  const { run, args } = withTools(45)
  await run(...more)
  expect(args()).toEqual(written)
})

test("few tools are all shown, and a group that there is not is refused with the nearest name", async () => {
  const { run, args } = withTools(20)
  expect((await run()).stderr).not.toContain("is shown")
  expect(args()).toEqual(["mcp", "--agent", "operator"])
  const wrong = await run("--builtin", "workspce")
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean 'workspace'?") as string })
  expect((await run("--builtin", "data", "--http")).code).toBe(2)
})
