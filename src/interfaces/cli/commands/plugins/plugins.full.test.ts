import { cpSync, existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { makeCli, waitForOutput } from "../../testing.ts"

const samples = fileURLToPath(new URL("../../../../../plugins", import.meta.url))

/** A folder with the samples and a configuration that a person trusts by naming it. */
function setUp(configuration: string, env: Record<string, string> = {}) {
  const made = makeCli(env)
  cpSync(samples, join(made.cwd, "plugins"), { recursive: true })
  made.write("mine.yml", configuration)
  const run = (...words: string[]) => made.run("--config", "mine.yml", ...words)
  return { ...made, run, untrusted: made.run }
}

const both = `
plugins:
  - plugins/word-count.cjs
  - { path: ./plugins/world-clock, config: { home: Asia/Shanghai } }
  - ./torn.mjs
`

test("the built command line loads both samples, CommonJS and ESM, and says what is wrong with a third", async () => {
  const { run, write } = setUp(both)
  write("torn.mjs", "export default {")
  const listed = JSON.parse((await run("plugins", "list", "--json")).stdout) as Record<string, unknown>[]
  expect(listed).toMatchObject([
    { name: "word_count", kind: "plugin", state: "loaded", digest: { covers: "file" } },
    { name: "world_clock", kind: "module", state: "loaded", digest: { covers: "folder", files: 2 } },
    { state: "failed", problem: expect.stringContaining("cannot be imported") as string },
  ])
  expect((await run("call", "torn_tool")).stderr).toMatch(
    /It may be a tool of a plugin that was not loaded\. \S+torn\.mjs cannot be imported: .* plugins list' shows all\./,
  )
  const counted = await run("call", "count_words", "text=one two three", "--json")
  expect(JSON.parse(counted.stdout)).toMatchObject({ success: true, result: { words: 3 } })
  expect((await run("call", "time_in")).stdout).toContain("+08:00")
  const failed = await run("call", "time_in", "zone=Mars")
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("'Mars' is no time zone.") as string })
  const audited = await run("audit", "show", "plugin:word_count")
  expect(audited.stdout).toContain((listed[0] as { digest: { sha256: string } }).digest.sha256)
})

test("a plugin that does not load is named by doctor, check and serve, with its sentence", async () => {
  const { run, start, write } = setUp("plugins: [./torn.mjs]\n")
  write("torn.mjs", "export default {")
  const sentence = /torn\.mjs cannot be imported: Unexpected end of input \(line 1: /
  const doctor = await run("doctor")
  expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(sentence)])
  expect(doctor.stdout).toMatch(/^broken +Plugin \S+torn\.mjs was not loaded: /m)
  const server = start("--config", "mine.yml", "serve", "--port", "0")
  await waitForOutput(server, "torn.mjs cannot be imported: ")
  server.kill()
  write("quartermaster.yml", "plugins: [./torn.mjs]\n")
  await run("trust", "--yes", "quartermaster.yml")
  const { code, stdout } = await run("check", "quartermaster.yml")
  expect([code, stdout]).toEqual([1, expect.stringMatching(sentence)])
  expect(stdout).toMatch(/^\S+ is trusted and well written, but not all of it works:\n {2}Plugin \S+ fails: /)
})

test("an untrusted configuration loads no plugin and warns", async () => {
  const { untrusted, write, cwd } = setUp("")
  write("quartermaster.yml", "plugins: [./evil.mjs]\n")
  write("evil.mjs", `import { writeFileSync } from "node:fs"; writeFileSync("ran", "yes")`)
  const { stderr } = await untrusted("plugins", "list")
  expect(stderr).toMatch(/is not trusted, so this is ignored: plugins\./)
  expect((await untrusted("call", "current_time")).code).toBe(0)
  expect((await untrusted("audit", "list")).stdout).toContain("current_time")
  expect(existsSync(join(cwd, "ran"))).toBe(false)
})

test("a plugin that uses this library from another copy of it still fails with its own code", async () => {
  const { run, cwd } = setUp("plugins: [./own.mjs]\n")
  const library = new URL("../../../../../dist/index.js", import.meta.url).href
  writeFileSync(
    join(cwd, "own.mjs"),
    `import { BaseTool, defineTool, failure } from ${JSON.stringify(library)}
     class Old extends BaseTool {
       name = "old"; description = "Adds one."; effect = "none"
       parameters = [{ name: "n", type: "number", description: "A number.", required: true }]
       async execute({ n }) { return { success: true, data: n + 1 } }
     }
     const lost = defineTool({ name: "lost", group: "x", description: "Fails.", effect: "none", input: { type: "object", properties: {} },
       execute() { throw failure("It is lost. Look elsewhere.", { toolCode: "file_not_found" }) } })
     export default { name: "own", version: "1.0.0", tools: [new Old(), lost] }`,
  )
  expect(JSON.parse((await run("call", "old", "n=41", "--json")).stdout)).toMatchObject({ result: 42 })
  const wrong = JSON.parse((await run("call", "old", '{"n":"x"}', "--json")).stdout) as Record<string, unknown>
  expect(wrong).toMatchObject({
    code: "invalid_arguments",
    error: expect.stringContaining("expected number") as string,
  })
  const lost = JSON.parse((await run("call", "lost", "--json")).stdout) as Record<string, unknown>
  expect(lost).toMatchObject({ code: "tool_failed", metadata: { toolCode: "file_not_found" } })
})

test("a plugin is unloaded and loaded for every command, and a file can be tried", async () => {
  const { run, write } = setUp(both.replace("  - ./torn.mjs\n", ""))
  expect((await run("call", "time_in")).code).toBe(0)
  expect(await run("plugins", "unload", "world_clock")).toMatchObject({ code: 0 })
  expect((await run("call", "time_in")).code).toBe(1)
  expect((await run("plugins", "list")).stdout).toMatch(/world_clock +off/)
  expect(await run("plugins", "load", "world_clock")).toMatchObject({ code: 0 })
  expect((await run("call", "time_in")).code).toBe(0)
  write("tried.cjs", `module.exports = { name: "tried", version: "1.0.0", tools: [{ name: "try_it", description: "Tries.", parameters: [], execute: async () => ({ success: true }) }] }`) // prettier-ignore
  const tried = await run("plugins", "load", "tried.cjs")
  expect(tried).toMatchObject({ code: 0, stdout: expect.stringContaining("system:try_it@1.0.0") as string })
  expect((await run("call", "try_it")).stderr).toContain("not found")
})

test("an experiment is started, shown and stopped at the command line, and its counts survive every process", async () => {
  const agents = ["a1", "a2", "a3", "a4"]
  const { run, write } = setUp(
    `plugins: [./two.mjs]\norg: { roles: [{ name: dev }], agents: [${agents.map((id) => `{ id: ${id}, role: dev }`).join()}] }\n`,
  )
  const one = (version: string) => `{ name: "greet", version: "${version}", description: "Greets.", effect: "none", parameters: [], execute: async () => ({ success: true, data: "${version}" }) }` // prettier-ignore
  write("two.mjs", `export default { name: "two", version: "1.0.0", tools: [${one("1.0.0")}, ${one("2.0.0")}] }`)
  const started = await run("experiments", "start", "greet-2", "--tool", "greet", "--versions", "1.0.0,2.0.0")
  expect(started.code).toBe(0)
  const given = new Map<string, string>()
  for (const id of agents) {
    const versions = [await run("call", "greet", "--agent", id), await run("call", "greet", "--agent", id)]
    expect(versions[0]?.stdout).toBe(versions[1]?.stdout)
    given.set(id, versions[0]!.stdout.trim())
  }
  const shown = JSON.parse((await run("experiments", "show", "greet-2", "--json")).stdout) as { arms: { version: string; calls: number; agents: number }[] } // prettier-ignore
  for (const { version, calls, agents: count } of shown.arms) {
    const expected = [...given.values()].filter((text) => text.includes(version)).length
    expect([count, calls]).toEqual([expected, 2 * expected])
  }
  expect((await run("experiments", "stop", "greet-2")).code).toBe(0)
  for (const id of agents) expect((await run("call", "greet", "--agent", id)).stdout).toContain("2.0.0")
})
