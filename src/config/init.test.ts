import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { renewSchema } from "./editor-schema.ts"
import { initialText, writeInitialConfig } from "./init.ts"
import { loadConfig } from "./load.ts"
import { configJsonSchema, defaults } from "./schema.ts"
import { makeFolders, problemsOf } from "./testing.ts"
import { isTrusted, trust } from "./trust.ts"

test("the first file is trusted, loads without warnings and sets only defaults", () => {
  const { cwd, home } = makeFolders()
  const { file, schemaFile } = writeInitialConfig(cwd, home, {})
  const { timeout: _, maxFileSize: _size, shell: _shell, trash: _trash, ...tools } = defaults.tools
  expect(loadConfig({ cwd, home, env: {} })).toEqual({
    config: { ...defaults, tools },
    files: [file],
    dataDir: join(cwd, ".quartermaster"),
    workspace: cwd,
    project: cwd,
    warnings: [],
    trusted: true,
    ignored: [],
    ignoredAgents: [],
    permissions: { trusted: {}, untrusted: {} },
    permissionSources: {},
    unset: { servers: {}, models: {}, databases: {}, webSearch: [] },
    ruleSources: [],
    configFile: file,
  })
  expect(JSON.parse(readFileSync(schemaFile, "utf8"))).toEqual(configJsonSchema())
  const [, named = ""] = /^# yaml-language-server: \$schema=(.+)\n/.exec(readFileSync(file, "utf8")) ?? []
  expect(join(cwd, named)).toBe(schemaFile)
  expect(readdirSync(cwd).sort()).toEqual([".quartermaster", "quartermaster.yml"])
  expect(readdirSync(join(cwd, ".quartermaster")).sort()).toEqual([".gitignore", "quartermaster.schema.json"])
})

const lines = initialText().split("\n")
const waiting = lines.flatMap((line, index) => (/^ *#\w+:/.test(line) ? [index] : []))

test.each(waiting.map((index) => [lines[index], index] as const))("'%s' loads when it is uncommented", (_, index) => {
  const { cwd, home, write } = makeFolders()
  const end = lines.findIndex((line, at) => at > index && !/^ *# {2}/.test(line))
  const text = lines.map((line, at) => (at >= index && at < end ? line.replace("#", "") : line)).join("\n")
  trust(write("quartermaster.yml", text), home, {})
  const { config, warnings } = loadConfig({ cwd, home, env: {} })
  expect(warnings).toEqual([])
  const key = /#(\w+):/.exec(lines[index] ?? "")?.[1]
  expect(JSON.stringify(config)).toContain(`"${key === "workspaceDir" ? "workspace" : key}":`)
})

test("a first file with shell mode sandbox sets it and comments out the other keys", () => {
  const { cwd, home } = makeFolders()
  const { file } = writeInitialConfig(cwd, home, {}, { shellMode: "sandbox" })
  expect(loadConfig({ cwd, home, env: {} })).toMatchObject({ warnings: [], trusted: true })
  expect(loadConfig({ cwd, home, env: {} }).config.tools?.shell).toEqual({ mode: "sandbox" })
  const text = readFileSync(file, "utf8")
  expect(text).toMatch(
    /# sandbox: commands run in bubblewrap unasked.*\n.*deletes or overwrites files asks.*\n.*mode: ask\n {4}mode: sandbox\n {4}#allow: /,
  )
  trust(file, home, {})
  for (const key of ["allow", "deny", "sandbox", "timeout", "limits"]) {
    writeFileSync(file, text.replace(`    #${key}:`, `    ${key}:`))
    trust(file, home, {})
    expect(loadConfig({ cwd, home, env: {} }).config.tools?.shell).toHaveProperty(key)
  }
})

test("the first file shows every key of the schema", () => {
  const keys = new Set<string>()
  JSON.stringify(configJsonSchema(), (key, value: unknown) => {
    if (key === "properties") for (const name of Object.keys(value as object)) keys.add(name)
    return value
  })
  expect(keys.size).toBeGreaterThan(30)
  expect([...keys].filter((key) => !new RegExp(`^[^a-z]*(#|- ?|.*[{,] )?${key}:`, "m").test(initialText()))).toEqual([])
})

test.each(["quartermaster.yml", "quartermaster.yaml", "quartermaster.json", "quartermaster.local.yml"])(
  "an existing %s is not overwritten and not trusted",
  (name) => {
    const { cwd, home, write } = makeFolders()
    const file = write(name, "{}")
    const problems = problemsOf(() => writeInitialConfig(cwd, home, {}))
    expect(problems).toMatchObject([{ file, sentence: expect.stringContaining("is not overwritten") }])
    expect(readFileSync(file, "utf8")).toBe("{}")
    expect(isTrusted(file, home)).toBe(false)
    expect(existsSync(join(cwd, ".quartermaster"))).toBe(false)
  },
)

test("a link in the place of the schema is replaced, not followed", () => {
  const { cwd, home, write } = makeFolders()
  const other = write("other.txt", "kept")
  mkdirSync(join(cwd, ".quartermaster"))
  symlinkSync(other, join(cwd, ".quartermaster/quartermaster.schema.json"))
  const { schemaFile } = writeInitialConfig(cwd, home, {})
  expect(readFileSync(other, "utf8")).toBe("kept")
  expect(JSON.parse(readFileSync(schemaFile, "utf8"))).toEqual(configJsonSchema())
})

test("through a link in the place of the data folder nothing is written", () => {
  const { cwd, home } = makeFolders()
  const other = join(cwd, "other")
  mkdirSync(other)
  symlinkSync(other, join(cwd, ".quartermaster"))
  writeInitialConfig(cwd, home, {})
  expect(readdirSync(other)).toEqual([])
})

test("the schema is made again for a file that names it, as after a clone, and for no other file", () => {
  const { cwd, home, write } = makeFolders()
  const { file, schemaFile } = writeInitialConfig(cwd, home, {})
  rmSync(join(cwd, ".quartermaster"), { recursive: true })
  renewSchema(write("other.yml", "{}"))
  expect(existsSync(schemaFile)).toBe(false)
  renewSchema(file)
  expect(JSON.parse(readFileSync(schemaFile, "utf8"))).toEqual(configJsonSchema())
})

test("inside a tool nothing is written", () => {
  const { cwd, home } = makeFolders()
  expect(problemsOf(() => writeInitialConfig(cwd, home, { QM_INSIDE: "1" }))).toHaveLength(1)
  expect(existsSync(join(cwd, "quartermaster.yml"))).toBe(false)
})
