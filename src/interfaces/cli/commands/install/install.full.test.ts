import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { makeCli } from "../../testing.ts"

const mine = `{
  // mine
  "mcpServers": { "other": { "command": "x" } }
}
`

test("'qm install' shows the change and writes nothing until it is confirmed", async () => {
  const cli = makeCli()
  cli.write(".mcp.json", mine)
  const unasked = await cli.run("install", "claude", "--no-hooks")
  expect(unasked.code).toBe(2)
  expect(unasked.stdout).toContain(join(cli.cwd, ".mcp.json"))
  expect(unasked.stdout).toMatch(/\n {2}\+ .*"quartermaster"/)
  expect(unasked.stderr).toContain("if it is right, add --yes.")
  expect(readFileSync(join(cli.cwd, ".mcp.json"), "utf8")).toBe(mine)

  const written = await cli.run("install", "claude", "--yes", "--json", "--no-hooks")
  expect(JSON.parse(written.stdout)).toEqual({
    file: join(cli.cwd, ".mcp.json"),
    written: true,
    backup: expect.stringMatching(/home\/\.config\/quartermaster\/backups\/.*\.mcp\.json$/) as string,
    others: ["other"],
    next: expect.any(Array) as string[],
  })
  const text = readFileSync(join(cli.cwd, ".mcp.json"), "utf8")
  expect(text).toContain("// mine")
  const { quartermaster } = (JSON.parse(text.replace("// mine", "")) as { mcpServers: { quartermaster: object } })
    .mcpServers
  expect(quartermaster).toMatchObject({
    type: "stdio",
    command: "qm",
    args: ["mcp", "--agent", "operator", "--builtin", "workspace,command,network"],
  })
  expect((await cli.run("install", "claude", "--no-hooks")).stderr).toContain(
    "is already up to date; nothing was written.",
  )
})

test("in a terminal it asks, and only a yes writes", async () => {
  const cli = makeCli()
  const no = await cli.inTerminal(["install", "cursor", "--no-hooks"], [["[y/N]", "n\r"]])
  expect(no.stdout).toContain("Nothing was written.")
  expect(existsSync(join(cli.cwd, ".cursor", "mcp.json"))).toBe(false)
  await cli.inTerminal(["install", "cursor", "--no-hooks"], [["[y/N]", "y\r"]])
  expect(existsSync(join(cli.cwd, ".cursor", "mcp.json"))).toBe(true)
})

test.each([
  [["install", "claude", "--agent", "nobody"], 1, "There is no agent 'nobody'."],
  [["install", "broken.json", "--yes"], 2, "This is not valid JSON: line 1, column 2"],
])("'qm %j' ends with %i and changes nothing", async (words, code, sentence) => {
  const cli = makeCli()
  cli.write("broken.json", "{")
  const ended = await cli.run(...words)
  expect(ended.code).toBe(code)
  expect(ended.stderr).toContain(sentence)
  expect(existsSync(join(cli.home, ".config", "quartermaster", "backups"))).toBe(false)
})

test("with --http the client connects to the configured address, and the message says how to create a token", async () => {
  const cli = makeCli()
  const written = await cli.run(
    "install",
    "claude",
    "--no-hooks",
    "--http",
    "--yes",
    "--name",
    "qm",
    "--set",
    "server.port=7000",
  )
  expect(written.stderr).toContain("Create a token with 'qm tokens create --agent operator --person me'")
  expect(JSON.parse(readFileSync(join(cli.cwd, ".mcp.json"), "utf8"))).toEqual({
    mcpServers: {
      qm: {
        type: "http",
        url: "http://127.0.0.1:7000/mcp",
        headers: { Authorization: "Bearer ${QUARTERMASTER_TOKEN}" },
      },
    },
  })
})

test("'qm init --from' writes an untrusted configuration and lists what it could not import", async () => {
  const cli = makeCli()
  mkdirSync(join(cli.cwd, ".claude"))
  cli.write(
    ".mcp.json",
    JSON.stringify({ mcpServers: { gone: { command: "/nowhere/x", env: { API_TOKEN: "s3cret" } } } }),
  )
  cli.write(
    ".claude/settings.json",
    JSON.stringify({ permissions: { deny: ["mcp__gone__delete", "Bash(rm:*)", "Task(Explore)"] } }),
  )
  const { code, stdout } = await cli.run("init", "--from", "claude")
  expect(code).toBe(0)
  expect(stdout).toContain("with 1 server and 2 rules. It is not trusted yet")
  expect(stdout).toContain("  - Set API_TOKEN to the secret that server 'gone' has in .mcp.json")
  expect(stdout).toContain("  - 'deny Task(Explore)' in .claude/settings.json is not imported")
  expect(readFileSync(join(cli.cwd, "quartermaster.yml"), "utf8")).not.toContain("s3cret")
  expect(JSON.parse((await cli.run("mcp", "list", "--json")).stdout)).toEqual([])
  expect((await cli.run("trust", "--yes")).stdout).toContain("starts the program: /nowhere/x with ")
  const unset =
    "variable API_TOKEN is not set. Set it, or write ${API_TOKEN:-default}. Until then the MCP server 'gone' is not started."
  expect((await cli.run("check")).stderr).toContain(unset)
  const listed = await cli.run("mcp", "list", "--json")
  expect(listed).toMatchObject({ code: 0, stderr: expect.stringContaining(unset) })
  expect(JSON.parse(listed.stdout)).toMatchObject([{ name: "gone", state: "refused", tools: 0 }])
  expect((await cli.run("install", "claude", "--no-hooks", "--replace", "--yes")).stderr).toContain(unset)
  const { rules } = JSON.parse((await cli.run("rules", "--json")).stdout) as { rules: object[] }
  expect(rules).toContainEqual(expect.objectContaining({ verdict: "deny", tool: "mcp:gone:delete" }))
  expect(rules).toContainEqual(
    expect.objectContaining({ verdict: "deny", tool: "run_command", touching: ["command:rm", "command:rm *"] }),
  )
  expect(await cli.run("init", "--from", "claude")).toMatchObject({ code: 2 })
})

test.each([
  [
    ["init", "--from", "emacs"],
    "--from takes one of claude, cursor, vscode, codex, gemini, and 'emacs' is none of them.",
  ],
  [["init", "there"], "A path is only used with --from"],
  [["init", "--from", "vscode"], "No configuration of vscode was found. Looked for .vscode/mcp.json."],
])("'qm %j' is refused with what to do", async (words, sentence) => {
  const { code, stderr } = await makeCli().run(...words)
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
})
