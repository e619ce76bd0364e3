import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { makeCli } from "../../testing.ts"

interface Report {
  trusted: boolean
  rules: number
  problems: { line?: number; key: string; sentence: string }[]
  notes: string[]
  starts: string[]
  started: { name: string; problem: string | null }[]
}

function makeChecked(text?: string) {
  const cli = makeCli()
  if (text !== undefined) cli.write("quartermaster.yml", text)
  const check = async (...words: string[]) => {
    const { code, stdout } = await cli.run("check", ...words, "--json")
    return { code, ...(JSON.parse(stdout) as Report) }
  }
  return { ...cli, check }
}

const broken = `agent: ada
org:
  roles: [{ name: developer, toolGroups: [dta] }]
  agents: [{ id: ada, role: developer, parent: rot }]
tools:
  enabled: [slep]
  permissions:
    sleeep: { level: public }
rules:
  - { deny: sleep, role: intern, because: So. }
  - { ask: sleep, because: So., examples: { match: [{ tool: current_time }] } }
  - deny: run_command
    touching: "command:rm *"
    because: So.
    examples: { match: [{ input: { command: ls } }] }
`

test("check lists rules whose examples fail and every unknown name, each with its line; trust refuses with the same list", async () => {
  const { check, run, cwd } = makeChecked(broken)
  const { code, problems, trusted } = await check()
  expect({ code, trusted }).toEqual({ code: 2, trusted: false })
  expect(problems.map(({ key, line }) => [key, line])).toEqual([
    ["org.roles[0].toolGroups[0]", 3],
    ["org.agents[0].parent", 4],
    ["tools.enabled[0]", 6],
    ["tools.permissions.sleeep", 8],
    ["rules[0]", 10],
    ["rules[1]", 11],
    ["rules[2]", 12],
  ])
  const refused = await run("trust", "--yes")
  expect(refused).toMatchObject({ code: 2, stdout: "" })
  expect(refused.stderr).toBe((await run("check")).stderr)
  expect((await check()).trusted).toBe(false)
  expect(readdirSync(cwd)).toEqual(["quartermaster.yml"])
})

test("a role that does not exist has its line, and hides no other mistake", async () => {
  const cli = makeCli()
  cli.write(
    "quartermaster.yml",
    `org:
  roles: [{ name: writer }]
  agents:
    - { id: a, role: nope }
    - { id: b, role: writr, parent: qqq }
rules:
  - { deny: wriite_file, because: x }
`,
  )
  const { code, stderr } = await cli.run("check")
  const lines = stderr.trim().split("\n")
  expect([code, lines.map((line) => /:(\d+):\d+: '(.*?)':/.exec(line)?.slice(1))]).toEqual([
    2,
    [
      ["4", "org.agents[0].role"],
      ["5", "org.agents[1].role"],
      ["5", "org.agents[1].parent"],
      ["7", "rules[0]"],
    ],
  ])
  expect(lines[0]).toContain("Agent 'a' has the role 'nope', which does not exist. Define it in org.roles.")
  expect(lines[1]).toContain("Did you mean 'writer'?")
})

test("check and doctor note a model whose key is in a variable that is not set", async () => {
  const model = (key: string) =>
    `{ provider: openai-compatible, baseUrl: "http://127.0.0.1:1/v1", model: q, apiKey: "${key}" }`
  const cli = makeCli({ SET_KEY: "x" })
  cli.write("quartermaster.yml", `models:\n  here: ${model("${SET_KEY}")}\n  there: ${model("${LOCAL_KEY}")}\n`)
  await cli.run("trust", "--yes")
  const sentence =
    "The environment variable LOCAL_KEY is not set. Set it, or write ${LOCAL_KEY:-default}. Until then the model 'there' cannot be used."
  const checked = await cli.run("check")
  expect([checked.code, checked.stderr]).toEqual([0, expect.stringMatching(/^Note: \S+quartermaster\.yml:3: /)])
  expect(checked.stderr).toContain(sentence)
  expect(checked.stderr).not.toContain("SET_KEY is")
  const doctor = await cli.run("doctor")
  expect(doctor.stdout).toContain(`note     ${sentence}\n`)
})

test("check lists wrong keys, with the key of another section that is meant", async () => {
  const { run, check } = makeChecked("rolez: []\ntools: { timout: 5 }\n")
  const { code, problems } = await check()
  expect(code).toBe(2)
  expect(problems.map(({ key }) => key).sort()).toEqual(["rolez", "tools.timout"])
  expect((await run("check")).stderr).toContain("Did you mean 'org.roles'?")
})

const starting = `mcpServers:
  made: { command: touch, args: [pwned, "a b"] }
  named: { command: touch, args: [pwned], env: { KEY: "\${HOME}" } }
plugins: [./evil.mjs]
notify: [{ command: [touch, pwned] }]
org: { roles: [{ name: tester, toolGroups: [made] }] }
rules:
  - { deny: "mcp:made:anything", because: So. }
`

test("mistakes of every sort are told at once, each with its line", async () => {
  const { check, write } = makeChecked()
  write(
    "quartermaster.yml",
    `tools:
  timeout: soon
  shell: { mode: sandbox, sandbox: off }
rules:
  - { allow: read_file }
  - { deny: write_fil, because: Nobody writes. }
models:
  claude: { provider: anthropic, model: x }
`,
  )
  const { problems } = await check()
  expect(problems.map(({ key, line }) => [key, line])).toEqual([
    ["tools.timeout", 2],
    ["tools.shell.mode", 3],
    ["rules[0].because", 5],
    ["rules[1]", 6],
    ["models.claude", 8],
  ])
})

test("while parts with names are wrong, names that may be theirs are not called unknown", async () => {
  const { check, write } = makeChecked()
  write("quartermaster.yml", "org:\n  roles: [{ id: dev, toolGroups: [data] }]\n  agents: [{ id: a, role: dev }]\n")
  expect((await check()).problems.map(({ key }) => key)).toEqual(["org.roles[0].name"])
})

test("of an untrusted file nothing is started or loaded; what it would start is printed as it is written", async () => {
  const { check, run, write, cwd } = makeChecked(starting)
  write("evil.mjs", `import { writeFileSync } from "node:fs"\nwriteFileSync(${JSON.stringify(join(cwd, "pwned"))}, "")`)
  const { code, problems, notes, starts, started } = await check()
  expect({ code, problems, started }).toEqual({ code: 0, problems: [], started: [] })
  expect(starts).toEqual([
    "starts the program: touch pwned 'a b' (mcpServers.made)",
    'starts the program: touch pwned with {"env":{"KEY":"${HOME}"}} (mcpServers.named)',
    "starts the program: touch pwned (notify)",
    "starts the program: ./evil.mjs (plugins)",
  ])
  expect(notes).toHaveLength(1)
  expect((await run("check")).stdout).toContain("It is not trusted. Run 'qm trust' to use it.")
  expect(existsSync(join(cwd, "pwned"))).toBe(false)
  expect(readdirSync(cwd).sort()).toEqual(["evil.mjs", "quartermaster.yml"])
})

test("a name that no server or plugin of the file can bring is a mistake, also where servers are started", async () => {
  const { check } = makeChecked(`mcpServers: { made: { command: touch } }
rules:
  - { deny: http_gett, because: So. }
  - { deny: "made:thing", because: So. }
  - { deny: "made__*", because: So. }
  - { deny: "mcp:made:thing", because: So. }
`)
  const { code, problems, notes } = await check()
  expect(code).toBe(2)
  expect(problems.map(({ sentence }) => sentence)).toEqual([
    "'rules[0]': There is no tool 'http_gett'. Did you mean 'http_get'?",
    "'rules[1]': There is no tool 'made:thing'. A tool of the MCP server 'made' is written 'mcp:made:thing'.",
    "'rules[2]': No tool has a name that fits 'made__*'. A tool of the MCP server 'made' is written 'mcp:made:*'.",
  ])
  expect(notes).toEqual([expect.stringContaining("'rules[3]' names 'mcp:made:thing'. Nothing has this name yet")])
})

test("a text pattern for a number is noted with what to write instead; a condition is not", async () => {
  const { check, run } = makeChecked(`rules:
  - { deny: sleep, args: { /duration: "[1-9][0-9][0-9]*" }, because: So. }
  - { deny: sleep, args: { /duration: { above: 100 } }, because: So. }
  - { ask: sleep, args: { /duration: "5" }, because: So. }
  - { ask: set_env, args: { /key: "A*" }, because: So. }
`)
  const { code, problems, notes } = await check()
  expect([code, problems]).toEqual([0, []])
  expect(notes).toEqual([
    expect.stringMatching(/:2: 'rules\[0\]': '\/duration' of sleep is a number, .* such as \{ above: 100 \}/),
  ])
  expect((await run("trust", "--yes")).code).toBe(0)
  expect(await run("call", "sleep", "duration=200")).toMatchObject({ code: 3 })
  const why = await run("why", "sleep", "duration=99", "--all")
  expect(why.stdout).toContain("The rule to deny sleep does not match this call (/duration is not above 100): So.")
})

test("a role of approvers that nobody has is noted, with its line and the name that is meant", async () => {
  const { check, run } = makeChecked(`org: { people: [{ id: ann, roles: [lead], tokenHash: "${"0".repeat(64)}" }] }
rules:
  - { ask: write_file, approvers: { role: leed }, because: So. }
  - { ask: move_file, approvers: { role: lead, count: 2 }, because: So. }
`)
  const { code, notes } = await check()
  expect(code).toBe(0)
  expect(notes).toEqual([
    expect.stringMatching(
      /:3: 'rules\[0\]\.approvers\.role': No person has the role 'leed', .* Did you mean 'lead'\?$/,
    ),
    expect.stringMatching(
      /:4: 'rules\[1\]\.approvers': The rule needs 2 people with the role 'lead', and there is 1, /,
    ),
  ])
  expect((await run("trust", "--yes")).stderr).toBe(notes.map((note) => `Note: ${note}\n`).join(""))
})

test("of a trusted file check also says whether its servers start and its plugins load", async () => {
  const { check, run, write } = makeChecked(
    "mcpServers: { gone: { command: no-such-program } }\nplugins: [./greet.mjs]\n",
  )
  write(
    "greet.mjs",
    `export default { name: "greet", version: "1.0.0", tools: [{ name: "greet", description: "Greets.", parameters: [], execute: () => "hi" }] }`,
  )
  expect((await run("trust", "--yes")).code).toBe(0)
  const { code, trusted, started } = await check()
  expect({ code, trusted }).toEqual({ code: 1, trusted: true })
  expect(started.find(({ name }) => name === "MCP server gone")?.problem).toContain("no-such-program")
  expect(started).toHaveLength(2)
})

test("check takes the path of a file, without trusting it, and says where one is missing", async () => {
  const { run, write, check } = makeChecked("agent: operator")
  write("other.yml", "tools: { enabled: [slep] }")
  expect(await check("other.yml")).toMatchObject({ code: 2, problems: [{ key: "tools.enabled[0]" }] })
  expect(await run("check", "missing.yml")).toMatchObject({ code: 2, stdout: "" })
  expect(await check()).toMatchObject({ code: 0, trusted: false })
})

test("roles that a person made in the store are known to check", async () => {
  const { run, check } = makeChecked("rules: [{ deny: sleep, role: tester, because: So. }]")
  expect((await check()).code).toBe(2)
  await run("roles", "create", "--name", "tester", "--groups", "system")
  expect(await check()).toMatchObject({ code: 0, rules: 1 })
})

test("rules test of an untrusted file says that it is not trusted yet, and reports no flaw", async () => {
  const { run } = makeChecked(
    "org: { roles: [{ name: intern }] }\nrules: [{ deny: sleep, role: intern, because: So. }]\n",
  )
  const tested = await run("rules", "test")
  expect(tested).toMatchObject({ code: 1, stdout: "" })
  expect(tested.stderr).toMatch(/^[^\n]*quartermaster\.yml is not trusted yet[^\n]*\n$/)
  expect((await run("rules", "list")).stderr).not.toContain("intern")
  await run("trust", "--yes")
  expect(await run("rules", "test")).toMatchObject({ code: 0, stderr: "" })
})

test("the first file runs as it is written: with its examples uncommented it has no mistakes, and its agent can work", async () => {
  const { run, cwd, write, check } = makeChecked()
  expect((await run("init")).code).toBe(0)
  expect(await check()).toMatchObject({ code: 0, trusted: true, problems: [] })
  const text = readFileSync(join(cwd, "quartermaster.yml"), "utf8")
  write("quartermaster.yml", uncommented(text, ["workspaceDir"]))
  expect(await check()).toMatchObject({ code: 0, problems: [], rules: 7 })
  // Settings that point elsewhere cannot run here.
  const elsewhere = ["workspaceDir", "mcpServers", "plugins", "modules", "experiments", "notify", "enabled"]
  write("quartermaster.yml", uncommented(text, elsewhere))
  expect((await run("trust", "--yes")).code).toBe(0)
  expect(await run("call", "current_time", "--agent", "ada")).toMatchObject({ code: 0, stderr: "" })
  const why = async (...words: string[]) =>
    (JSON.parse((await run("why", ...words, "--agent", "ada", "--json")).stdout) as { verdict: string }).verdict
  expect(await why("sleep", "duration=0")).toBe("ask")
  expect(await why("write_file", "path=docs/a.md", "content=x")).toBe("allow")
  expect(await why("run_command", "command=ls", "cwd=docs")).not.toBe("deny")
})

/** The text with every commented-out key in use, except some. `tools.mcpServers` means the same as `mcpServers`. */
function uncommented(text: string, except: readonly string[]): string {
  let isLeft = false
  return text
    .split("\n")
    .map((line) => {
      const [, indent, key] = /^( *)#(\w+):/.exec(line) ?? []
      if (key !== undefined) isLeft = except.includes(key) || (key === "mcpServers" && indent !== "")
      else if (!/^ *# {2}/.test(line)) isLeft = true
      return isLeft ? line : line.replace("#", "")
    })
    .join("\n")
}
