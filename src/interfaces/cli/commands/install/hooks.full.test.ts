import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import { makeCli } from "../../testing.ts"

const files = {
  claude: [".mcp.json", ".claude/settings.json"],
  codex: [".codex/config.toml", ".codex/hooks.json"],
  gemini: [".gemini/settings.json"],
  qwen: [".qwen/settings.json"],
  cursor: [".cursor/mcp.json", ".cursor/hooks.json"],
  copilot: [".github/hooks/quartermaster.json"],
  opencode: ["opencode.json", ".opencode/plugin/quartermaster.js"],
} as const
type Hooked = keyof typeof files

/** A person's own settings in such a file, with comments where its client takes them. */
const own: Partial<Record<string, string>> = {
  ".claude/settings.json": `{
  // mine
  "permissions": { "deny": ["Read(.env)"] },
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./mine.sh" }] }, // keep
    ],
  },
}
`,
  ".codex/config.toml": "# mine\nmodel = 'm' # best\n\n[mcp_servers.other]\ncommand = 'x'\n",
  ".gemini/settings.json": '{\n  "ui": { "theme": "x" } /* mine */\n}\n',
  "opencode.json": '{ "$schema": "https://opencode.ai/config.json" }\n',
}

test.each(Object.keys(files) as Hooked[])(
  "%s: server and hooks are put in, and taken out byte for byte",
  async (client) => {
    const cli = makeCli()
    const paths = files[client].map((name) => join(cli.cwd, name))
    const before = files[client].map((name, index) => {
      const text = own[name]
      if (text === undefined) return undefined
      mkdirSync(dirname(paths[index]!), { recursive: true })
      writeFileSync(paths[index]!, text)
      return text
    })
    const installed = await cli.run("install", client, "--yes")
    expect(installed).toMatchObject({ code: 0 })
    expect(installed.stderr).toContain(`Created agent ${client} with role coding-agent.`)
    const written = paths.map((path) => readFileSync(path, "utf8"))
    expect(written.join("\n")).toMatch(/hook\W+\w*\W*--agent|"hook"/)
    for (const [index, text] of before.entries()) {
      for (const line of text?.match(/(mine|best|keep)\b.*/g) ?? []) expect(written[index]).toContain(line)
    }
    expect((await cli.run("install", client, "--yes")).stderr).toContain("is already up to date")
    expect(paths.map((path) => readFileSync(path, "utf8"))).toEqual(written)
    const taken = await cli.run("install", client, "--uninstall", "--yes")
    expect(taken.code).toBe(0)
    expect(paths.map((path) => (existsSync(path) ? readFileSync(path, "utf8") : undefined))).toEqual(before)
    expect((await cli.run("install", client, "--uninstall", "--yes")).stderr).toContain(
      "Nothing of Quartermaster is in",
    )
  },
)

test("of a file that was changed since only our entries are taken out", async () => {
  const cli = makeCli()
  const file = join(cli.cwd, ".claude/settings.json")
  await cli.run("install", "claude", "--yes")
  const theirs = '"hooks": {\n    "Stop": [{ "hooks": [] }],'
  writeFileSync(file, readFileSync(file, "utf8").replace('"hooks": {', theirs))
  await cli.run("install", "claude", "--uninstall", "--yes")
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ hooks: { Stop: [{ hooks: [] }] } })
})

test("what would be written can be printed, and nothing is written then", async () => {
  const cli = makeCli()
  const { code, stdout } = await cli.run("install", "claude", "--print")
  expect(code).toBe(0)
  expect(stdout).toContain('"onFailure": "block"')
  expect(existsSync(join(cli.cwd, ".mcp.json"))).toBe(false)
  expect((await cli.run("agents", "list", "--json")).stdout).not.toContain('"claude"')
  const managed = await cli.run("install", "claude", "--managed")
  expect(managed.stdout).toContain('"allowManagedHooksOnly": true')
  expect((await cli.run("install", "zed", "--managed")).stderr).toContain("It is not known where an administrator")
})

test("with --no-hooks the client's own tools are left alone, and that is said", async () => {
  const cli = makeCli()
  const { stderr } = await cli.run("install", "claude", "--no-hooks", "--yes")
  expect(stderr).toContain("The client's own tools go around Quartermaster.")
  expect(existsSync(join(cli.cwd, ".claude"))).toBe(false)
})

test("'qm doctor' tries each installed hook with a real call that must be refused, and says when one lets it through", async () => {
  const cli = makeCli()
  for (const client of Object.keys(files)) await cli.run("install", client, "--yes")
  const states = JSON.parse((await cli.run("clients", "--json")).stdout) as {
    client: string
    hooks: string
    around: string[]
  }[]
  expect(
    states
      .filter(({ hooks }) => hooks === "installed")
      .map(({ client }) => client)
      .toSorted(),
  ).toEqual(Object.keys(files).toSorted())
  const { stdout } = await cli.run("doctor")
  for (const client of Object.keys(files)) expect(stdout).toContain(`The hook of ${client} refuses a call`)
  const log = (await cli.run("audit", "list")).stdout
  expect(log.match(/path_outside_workspace/g)).toHaveLength(Object.keys(files).length)
  const file = join(cli.cwd, ".claude/settings.json")
  writeFileSync(file, readFileSync(file, "utf8").replace('"--agent"', '"--fail-open", "--set", "x=y", "--agent"'))
  const broken = await cli.run("doctor")
  expect(broken.code).toBe(1)
  expect(broken.stdout).toContain("The hook of claude does not refuse a call that it must refuse")
})
