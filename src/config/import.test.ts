import { join } from "node:path"
import { expect, test } from "vitest"
import { parse } from "yaml"
import { claudeToolRule } from "./import-claude-tools.ts"
import { importFrom } from "./import.ts"
import { writeConfig } from "./init.ts"
import { installInto } from "./install.ts"
import { loadConfig } from "./load.ts"
import { serverSpecs } from "./mcp-servers.ts"
import { makeFolders, problemsOf } from "./testing.ts"
import { trust } from "./trust.ts"

const text = (value: unknown) => JSON.stringify(value)

test("Claude's servers of the user, the project and the folder are imported, the nearest first", () => {
  const { cwd, home, write } = makeFolders()
  const server = (command: string) => ({ type: "stdio", command, args: [] })
  write(
    "../home/.claude.json",
    text({
      numStartups: 5,
      mcpServers: { user: server("u"), both: server("far") },
      projects: { [cwd]: { mcpServers: { mine: server("m") } }, "/elsewhere": { mcpServers: { other: server("o") } } },
    }),
  )
  write(
    ".mcp.json",
    text({ mcpServers: { both: server("near"), off: { type: "http", url: "https://a.example/mcp" } } }),
  )
  write(".claude/settings.local.json", text({ disabledMcpjsonServers: ["off"] }))
  const imported = importFrom("claude", undefined, { cwd, home })
  expect(imported.servers.toSorted()).toEqual(["both", "mine", "off", "user"])
  expect(parse(imported.text)).toMatchObject({
    mcpServers: {
      both: { command: "near" },
      off: { url: "https://a.example/mcp", enabled: false },
      mine: { command: "m" },
    },
  })
  expect(imported.notes).toEqual(["Server 'both' is in ~/.claude.json and .mcp.json; the latter is used."])
  expect(imported.files).toEqual([
    join(home, ".claude.json"),
    join(cwd, ".mcp.json"),
    join(cwd, ".claude", "settings.local.json"),
  ])
})

test("Claude's permissions become rules, and all others are noted", () => {
  const { cwd, home, write } = makeFolders()
  write(
    ".mcp.json",
    text({ mcpServers: { git: { command: "g" }, git__hub: { command: "g" }, "my files": { command: "f" } } }),
  )
  write(
    ".claude/settings.json",
    text({
      permissions: {
        allow: ["mcp__git__hub__search", "mcp__my_files__*", "Bash(npm run test:*)", "Task(Explore)", "mcp__gone__x"],
        ask: ["mcp__git__hub"],
        deny: ["mcp__git__hub__delete", "Read(./.env)"],
        defaultMode: "acceptEdits",
      },
      hooks: { PreToolUse: [{}] },
    }),
  )
  const imported = importFrom("claude", undefined, { cwd, home })
  const because = (said: string) => `Imported from .claude/settings.json: ${said}.`
  expect((parse(imported.text) as { rules: unknown }).rules).toEqual([
    { deny: "mcp:git__hub:delete", because: because("deny mcp__git__hub__delete") },
    { deny: "*", touching: ["read:.env"], because: because("deny Read(./.env)") },
    { ask: "group:git__hub", because: because("ask mcp__git__hub") },
    { allow: "mcp:git__hub:search", because: because("allow mcp__git__hub__search") },
    { allow: "group:my-files", because: because("allow mcp__my_files__*") },
    {
      allow: "run_command",
      touching: ["command:npm run test", "command:npm run test *"],
      because: because("allow Bash(npm run test:*)"),
    },
  ])
  expect(imported.rules).toBe(6)
  expect(imported.notes).toEqual([
    expect.stringMatching(/^Server 'my files' is renamed to 'my-files': /),
    `'permissions.defaultMode: "acceptEdits"' in .claude/settings.json is not imported. 'qm mode' sets how strict a session is.`,
    "'allow Task(Explore)' in .claude/settings.json is not imported: it is for a tool that only that program has; the program keeps deciding about it.",
    "'allow mcp__gone__x' in .claude/settings.json is not imported: no imported server has that name.",
    "'hooks' in .claude/settings.json is not imported. Hooks run commands around tool calls; 'qm install' sets up ours beside them.",
  ])
})

test.each([
  ["allow", "Bash", { tool: "run_command" }],
  ["deny", "Bash(rm *)", { tool: "run_command", touching: ["command:rm", "command:rm *"] }],
  ["deny", "Bash(rm*)", { tool: "run_command", touching: ["command:rm*"] }],
  ["allow", "Bash(git status)", { tool: "run_command", touching: ["command:git status"] }],
  ["deny", "Read(//etc/**)", { tool: "*", touching: ["read:/etc/**"] }],
  ["deny", "Read(~/.ssh/**)", { tool: "*", touching: ["read:${HOME}/.ssh/**"] }],
  ["deny", "Edit(dist/**)", { tool: "*", touching: ["write:dist/**", "write:**/dist/**"] }],
  ["allow", "Edit(/src/**)", { tool: "group:workspace", touching: ["write:src/**"] }],
  ["deny", "WebFetch", { tool: "web_fetch", also: ["http_get", "http_request"] }],
  ["deny", "WebFetch(domain:a.example)", { tool: "*", touching: ["host:a.example"] }],
  ["allow", "WebFetch(domain:docs.example.com)", { tool: "web_fetch", touching: ["host:docs.example.com"] }],
  ["ask", "NotebookEdit", { tool: "edit_notebook" }],
] as const)("Claude's '%s %s' is a rule here", (verdict, written, rule) => {
  expect(claudeToolRule(verdict, written)).toEqual(rule)
})

test.each([
  ["allow", "WebFetch(domain:*example.com)", "dot after the '*'"],
  ["deny", "Edit(src/*.{ts,js})", "has braces"],
  ["allow", "Agent(Explore)", "only that program has"],
  ["allow", "WebSearch(x)", "about arguments"],
] as const)("Claude's '%s %s' is not imported, and the note says why", (verdict, written, why) => {
  expect(claudeToolRule(verdict, written)).toContain(why)
})

const imports: [string, object, object][] = [
  ["userinfo in an address", { url: "https://me:hunter2@a.example/mcp" }, { url: "https://me:${ONE_SECRET}@a.example/mcp" }],
  ["a key in an address", { url: "https://a.example/mcp?key=hunter2&page=1" }, { url: "https://a.example/mcp?key=${KEY}&page=1" }],
  ["a key behind a key", { url: "https://a.example/mcp?page=1&api_key=hunter2" }, { url: "https://a.example/mcp?page=1&api_key=${API_KEY}" }],
  ["a header among the arguments", { command: "npx", args: ["mcp-remote", "--header", "Authorization: Bearer hunter2"] }, { command: "npx", args: ["mcp-remote", "--header", "Authorization: Bearer ${AUTHORIZATION}"] }],
  ["a header with its flag", { command: "npx", args: ["--header=X-Api-Key:hunter2"] }, { command: "npx", args: ["--header=X-Api-Key:${X_API_KEY}"] }],
  ["the address of a database", { command: "npx", args: ["postgres://me:hunter2@db.example/crm"] }, { command: "npx", args: ["postgres://me:${ONE_SECRET}@db.example/crm"] }],
  ["the address of a database in the environment", { command: "x", env: { PG: "mysql://me:hunter2@db.example/crm" } }, { command: "x", env: { PG: "mysql://me:${ONE_SECRET}@db.example/crm" } }],
  ["JSON in the environment", { command: "x", env: { SETTINGS: '{"name":"a","apiKey":"hunter2"}' } }, { command: "x", env: { SETTINGS: '{"name":"a","apiKey":"${APIKEY}"}' } }],
  ["a line for a shell", { command: "sh", args: ["-c", "API_KEY=hunter2 exec server --port 80"] }, { command: "sh", args: ["-c", "API_KEY=${API_KEY} exec server --port 80"] }],
  ["a line with a short name", { command: "sh", args: ["-c", "KEY='hunter2' server"] }, { command: "sh", args: ["-c", "KEY='${KEY}' server"] }],
  ["a line with an option", { command: "sh", args: ["-c", "server --password hunter2 -v"] }, { command: "sh", args: ["-c", "server --password ${PASSWORD} -v"] }],
  ["the default of a variable", { command: "x", env: { A: "${MY_TOKEN:-hunter2}" } }, { command: "x", env: { A: "${MY_TOKEN}" } }],
  ["the command itself", { command: "sh -c 'TOKEN=hunter2 x'" }, { command: "sh -c 'TOKEN=${TOKEN} x'" }],
  ["a value with spaces", { command: "x", env: { SETTINGS: '{"password":"hunter2 and more"}' } }, { command: "x", env: { SETTINGS: '{"password":"${PASSWORD}"}' } }],
  ["what is no secret", { command: "npx", args: ["-y", "--log-level=debug", "KEYBOARD=us", "https://a.example:8080/x?page=2", "monkey: banana"] }, { command: "npx", args: ["-y", "--log-level=debug", "KEYBOARD=us", "https://a.example:8080/x?page=2", "monkey: banana"] }],
] // prettier-ignore

test.each(imports)("an imported server keeps no secret: %s", (_what, entry, expected) => {
  const { cwd, home, write } = makeFolders()
  write(".cursor/mcp.json", text({ mcpServers: { one: entry } }))
  const imported = importFrom("cursor", undefined, { cwd, home })
  expect(imported.text).not.toContain("hunter2")
  expect(parse(imported.text)).toEqual({ mcpServers: { one: expected } })
})

test("a permission with a secret in it is not imported, and the note does not show it", () => {
  const { cwd, home, write } = makeFolders()
  write(".claude/settings.json", text({ permissions: { allow: ["Bash(curl -u me:hunter2 https://a.example)"] } }))
  const imported = importFrom("claude", undefined, { cwd, home })
  expect(imported.text).not.toContain("hunter2")
  expect(imported.rules).toBe(0)
  expect(imported.notes).toEqual([expect.stringContaining("there is a secret in it")])
})

test("secrets become variables, and the notes say which to set", () => {
  const { cwd, home, write } = makeFolders()
  const secrets = [
    "ghp_" + "a1".repeat(18),
    "s3cret-header",
    "hunter2",
    "sk-" + "b2".repeat(20),
    "key-in-url",
    "other-token",
  ]
  const [github, header, password, argument, address, second] = secrets
  write(
    ".cursor/mcp.json",
    text({
      mcpServers: {
        github: {
          command: "npx",
          args: ["-y", "server", "--api-key", password, `--token=${argument}`, "--verbose"],
          env: { GITHUB_TOKEN: github, LOG_LEVEL: "info", FROM: "${env:OUTER}", API_KEY: "${env:ALREADY}" },
        },
        far: { url: `https://a.example/mcp?api_key=${address}&page=1`, headers: { Authorization: `Bearer ${header}` } },
        twin: { command: "x", env: { GITHUB_TOKEN: second } },
      },
    }),
  )
  const imported = importFrom("cursor", undefined, { cwd, home })
  for (const secret of secrets) expect(imported.text).not.toContain(secret)
  expect(parse(imported.text)).toEqual({
    mcpServers: {
      github: {
        command: "npx",
        args: ["-y", "server", "--api-key", "${API_KEY}", "--token=${TOKEN}", "--verbose"],
        env: {
          GITHUB_TOKEN: "${GITHUB_TOKEN}",
          LOG_LEVEL: "info",
          FROM: "${OUTER}",
          API_KEY: "${ALREADY}",
        },
      },
      far: {
        url: "https://a.example/mcp?api_key=${FAR_API_KEY}&page=1",
        headers: { Authorization: "Bearer ${FAR_AUTHORIZATION}" },
      },
      twin: { command: "x", env: { GITHUB_TOKEN: "${TWIN_GITHUB_TOKEN}" } },
    },
  })
  const named = imported.notes.map((note) => /^Set (\w+) /.exec(note)?.[1])
  expect(named).toEqual(["API_KEY", "TOKEN", "GITHUB_TOKEN", "FAR_API_KEY", "FAR_AUTHORIZATION", "TWIN_GITHUB_TOKEN"])
})

test("VS Code's file has comments, inputs and variables of its own", () => {
  const { cwd, home, write } = makeFolders()
  write(
    ".vscode/mcp.json",
    `{
      // what we use
      "inputs": [{ "type": "promptString", "id": "pg-url", "description": "Address of the database", "password": true }],
      "servers": {
        "db": { "type": "stdio", "command": "db", "args": ["\${input:pg-url}", "\${workspaceFolder}/x", "\${unknown:1}"],
                "cwd": "\${workspaceFolder}", "envFile": "\${workspaceFolder}/.env", },
        "sub": { "command": "\${userHome}/bin/x", "cwd": "\${workspaceFolder}/sub" },
      },
    }`,
  )
  const imported = importFrom("vscode", undefined, { cwd, home })
  expect(parse(imported.text)).toEqual({
    mcpServers: {
      db: { type: "stdio", command: "db", args: ["${PG_URL}", `${cwd}/x`, "$${unknown:1}"], cwd: "." },
      sub: { command: "${HOME}/bin/x", cwd: "./sub" },
    },
  })
  expect(imported.notes).toEqual([
    "Set PG_URL (Address of the database): server 'db' needs it; here it is read from the environment.",
    "'${unknown:1}' of server 'db' is unknown and stays as written.",
    expect.stringMatching(/^'envFile' of server 'db' in .vscode\/mcp.json is not imported\. Set the variables/),
  ])
})

test("auto-approved tools of a client become allow rules", () => {
  const { cwd, home, write } = makeFolders()
  const file = write(
    "mcp.json",
    text({ mcpServers: { a: { command: "x", autoApprove: ["read", "list"], disabled: true } } }),
  )
  const imported = importFrom("cursor", file, { cwd, home })
  expect(parse(imported.text)).toMatchObject({
    mcpServers: { a: { enabled: false } },
    rules: [{ allow: "mcp:a:read" }, { allow: "mcp:a:list" }],
  })
})

test("Gemini's servers and lists of tools are imported, and Codex' servers from its TOML", () => {
  const { cwd, home, write } = makeFolders()
  write(
    ".gemini/settings.json",
    text({
      mcpServers: { files: { command: "f" } },
      tools: { allowed: ["run_shell_command(git status)", "read_file"], exclude: ["run_shell_command(rm)"] },
    }),
  )
  const gemini = importFrom("gemini", undefined, { cwd, home })
  expect(parse(gemini.text)).toMatchObject({
    mcpServers: { files: { command: "f" } },
    rules: [
      { deny: "run_command", touching: ["command:rm", "command:rm *"] },
      { allow: "run_command", touching: ["command:git status", "command:git status *"] },
      { allow: "read_file" },
    ],
  })
  write(".codex/config.toml", 'approval_policy = "never"\n[mcp_servers.docs]\ncommand = "d"\nargs = ["x"]\n')
  const codex = importFrom("codex", undefined, { cwd, home })
  expect(parse(codex.text)).toMatchObject({ mcpServers: { docs: { command: "d", args: ["x"] } } })
  expect(codex.notes).toEqual([expect.stringContaining("'approval_policy' in .codex/config.toml is not imported.")])
  write(".codex/config.toml", "= broken")
  expect(() => importFrom("codex", undefined, { cwd, home })).toThrow("This is not valid TOML")
})

test.each<[string, unknown, string]>([
  ["data", { command: "x" }, "data-mcp"],
  ["a:b", { command: "x" }, "a-b"],
  ["@scope/server", { command: "x" }, "scope-server"],
  ["é", { command: "x" }, "server"],
])("a server named '%s' gets a valid name, and a note says so", (name, entry, ours) => {
  const { cwd, home, write } = makeFolders()
  write(".mcp.json", text({ mcpServers: { [name]: entry } }))
  const { servers, notes } = importFrom("claude", undefined, { cwd, home })
  expect(servers).toEqual([ours])
  expect(notes).toEqual([expect.stringContaining(`Server '${name}' is renamed to '${ours}'`)])
})

test.each<[unknown, string]>([
  [{}, "has neither a command nor a url"],
  [{ command: "x", url: "https://a.example" }, "has both a command and a url"],
  [{ url: "ftp://a.example" }, "it must be a URL"],
  ["x", "it is not an object"],
])("a server %j is left out with a note", (entry, sentence) => {
  const { cwd, home, write } = makeFolders()
  write(".mcp.json", text({ mcpServers: { a: entry, good: { command: "x" } } }))
  const { servers, notes } = importFrom("claude", undefined, { cwd, home })
  expect(servers).toEqual(["good"])
  expect(notes).toEqual([expect.stringMatching(new RegExp(`^Server 'a'.* is left out: .*${sentence}`))])
})

test.each(["claude", "cursor", "vscode", "codex", "gemini"] as const)(
  "what was installed into %s is not imported again",
  (client) => {
    const { cwd, home } = makeFolders()
    installInto(
      client,
      "one",
      { command: "/bin/node", args: ["/opt/qm.js"], folder: cwd, agent: "dev" },
      { cwd, home },
    ).write()
    installInto(client, "two", { url: "http://127.0.0.1:7420/mcp", agent: "dev" }, { cwd, home }).write()
    const { servers, notes } = importFrom(client, undefined, { cwd, home })
    expect(servers).toEqual([])
    expect(notes).toEqual(
      ["one", "two"].map((name) => expect.stringMatching(`^Server '${name}' .* it is Quartermaster itself`)),
    )
  },
)

test("an imported file starts nothing until it is trusted, and then loads even before its variables are set", () => {
  const { cwd, home, write } = makeFolders()
  write(
    ".mcp.json",
    text({
      mcpServers: {
        a: { command: "x", args: ["${A}", "a\n# b: c", "${B:-c}"], env: { TOKEN: "t" } },
        b: { url: "https://${H}/mcp" },
      },
    }),
  )
  const { file } = writeConfig(cwd, importFrom("claude", undefined, { cwd, home }).text, {})
  const env = { H: "b.example", TOKEN: "u" }
  expect(serverSpecs(loadConfig({ cwd, home, env }).config)).toEqual([])
  trust(file, home, {})
  const b = { name: "b", url: "https://b.example/mcp" }
  const loaded = loadConfig({ cwd, home, env })
  expect(loaded).toMatchObject({ trusted: true, unset: { servers: { a: ["A"] } } })
  expect(loaded.warnings).toEqual([expect.stringMatching(/variable A is not set\..* server 'a' is not started\.$/)])
  expect(serverSpecs(loaded.config)).toMatchObject([b])
  expect(serverSpecs(loadConfig({ cwd, home, env: { ...env, A: "v" } }).config)).toMatchObject([
    { name: "a", args: ["v", "a\n# b: c", "c"], env: { TOKEN: "u" } },
    b,
  ])
})

test("a missing client and a file that is not JSON are refused with what to do", () => {
  const { cwd, home, write } = makeFolders()
  expect(problemsOf(() => importFrom("vscode", undefined, { cwd, home }))).toMatchObject([
    {
      sentence:
        "No configuration of vscode was found. Looked for .vscode/mcp.json. Give its path, or run 'qm init' without --from.",
    },
  ])
  const file = write(".mcp.json", '{ "mcpServers": ')
  expect(problemsOf(() => importFrom("claude", undefined, { cwd, home }))).toMatchObject([
    { file, sentence: "This is not valid JSON: line 1, column 17: a value was expected. Correct it there first." },
  ])
})

test("an allow for a path outside the folder is left out with what to do, and a deny of WebFetch covers http_get and http_request", () => {
  const { cwd, home, write } = makeFolders()
  const allow = ["Read(~/.zshrc)", "Read(//etc/**)", "Edit(//**)", `Read(/${cwd}/src/**)`]
  write(".claude/settings.json", text({ permissions: { allow, deny: ["WebFetch"] } }))
  const { notes, text: written } = importFrom("claude", undefined, { cwd, home })
  expect((parse(written) as { rules: object[] }).rules).toMatchObject([
    { deny: "web_fetch" },
    { deny: "http_get" },
    { deny: "http_request" },
    { allow: "group:workspace", touching: ["write:/**"] },
    { allow: "group:workspace", touching: [`read:${cwd}/src/**`] },
  ])
  expect(notes).toEqual([
    "'deny WebFetch' in .claude/settings.json is imported for web_fetch, http_get, http_request.",
    expect.stringMatching(
      /^'allow Read\(~\/\.zshrc\)' .* outside the workspace, .* add its folder .* tools\.allowedPaths\.$/,
    ),
    expect.stringMatching(/^'allow Read\(\/\/etc\/\*\*\)' .* outside the workspace/),
  ])
})
