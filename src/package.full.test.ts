import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"

const repository = fileURLToPath(new URL("..", import.meta.url))
const root = realpathSync(mkdtempSync(join(tmpdir(), "quartermaster-package-")))
const project = join(root, "project")
const home = join(root, "home")
const installed = join(project, "node_modules")
let packed: string[] = []

/** npm reads where the registry is from the home of whoever runs the tests. */
const npm = (cwd: string, ...words: string[]) => run("npm", words, cwd, process.env)
const node = (...words: string[]) => run(process.execPath, words, project, { PATH: process.env["PATH"], HOME: home })
const qm = (...words: string[]) => node(join(installed, ".bin/qm"), "-C", "cli", ...words)

async function run(program: string, words: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  return (await promisify(execFile)(program, words, { cwd, env, maxBuffer: 1e8 })).stdout
}

beforeAll(async () => {
  for (const folder of [project, home, join(project, "cli")]) mkdirSync(folder)
  // The build ran before the tests; building again would take dist away from those that run now.
  const answer = await npm(repository, "pack", "--ignore-scripts", "--json", "--pack-destination", root)
  const [{ filename, files }] = JSON.parse(answer) as [{ filename: string; files: { path: string }[] }]
  packed = files.map(({ path }) => path)
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }))
  await npm(project, "install", "--prefer-offline", "--no-audit", "--no-fund", join(root, filename))
  // As in every TypeScript project for Node; nothing in its tsconfig.json says so.
  mkdirSync(join(installed, "@types"), { recursive: true })
  for (const name of ["@types/node", "undici-types"])
    symlinkSync(join(repository, "node_modules", name), join(installed, name))
}, 600_000)
afterAll(() => rmSync(root, { recursive: true, force: true }))

test("the package has docs and examples, and no tests, caches, maps or types that nothing public leads to", () => {
  for (const path of [
    "README.md",
    "LICENSE",
    "docs/RULES.md",
    "examples/quickstart.mjs",
    "examples/loops/ai-sdk.mjs",
    "dist/index.js",
    "dist/types/index.d.ts",
    "dist/qm.js",
  ])
    expect(packed).toContain(path)
  expect(
    packed.filter(
      (path) =>
        // The sample's small project has a test of its own.
        !path.startsWith("examples/sample/") &&
        /(\.test|\.contract)\.|testing|node_modules|\.map$|\.cache$|\.tsbuildinfo$/.test(path),
    ),
  ).toEqual([])
  expect(packed).not.toContain("dist/types/store/journal.d.ts")
})

test("installed in an empty project it takes at most 100 MB, with one Zod for both", async () => {
  expect(Number.parseInt(await run("du", ["-sm", installed], project, process.env))).toBeLessThanOrEqual(100)
  expect(readdirSync(installed)).toContain("zod")
  expect(readdirSync(join(installed, "quartermaster"))).not.toContain("node_modules")
})

const program = `
import { createQuartermaster, defineTool, modelText } from "quartermaster"
import { governedTools } from "quartermaster/ai-sdk"
import { createClient, type CallResult } from "quartermaster/client"
import * as anthropic from "quartermaster/anthropic"
import * as langchain from "quartermaster/langchain"
import * as openai from "quartermaster/openai"
import * as agents from "quartermaster/openai-agents"
import * as s0 from "quartermaster/designs/s0"
import * as s1 from "quartermaster/designs/s1"
import * as s2 from "quartermaster/designs/s2"
import * as s3 from "quartermaster/designs/s3"
import * as s4 from "quartermaster/designs/s4"
import { z } from "zod"

const quartermaster = await createQuartermaster()
const add = defineTool({
  name: "add",
  group: "maths",
  description: "Add two numbers.",
  effect: "none",
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})
quartermaster.registry.register(add)
// The types of the package are found: with "any" these lines would have no error to expect.
// @ts-expect-error
const wrong: number = quartermaster
// @ts-expect-error
const wrongTools: number = governedTools(quartermaster, "operator")
console.log(Object.keys(governedTools(quartermaster, "operator", { groups: ["maths"] })))
const client = createClient({ baseUrl: "http://127.0.0.1:1" })
// @ts-expect-error
const wrongClient: number = client
const called = (): Promise<CallResult> => client.call("add", { a: 1 })
const message = { tool_calls: [{ id: "1", type: "function", function: { name: "add", arguments: '{"a":1,"b":1}' } }] }
console.log(await openai.runToolCalls(quartermaster, "operator", message))
console.log(anthropic.governedTools(quartermaster, "operator", { groups: ["maths"] })[0]?.input_schema.type)
console.log(agents.governedTools(quartermaster, "operator", { groups: ["maths"] })[0]?.type)
const tool = (run: unknown, fields: { name: string }) => fields.name
class ToolMessage {}
console.log(langchain.governedTools(quartermaster, "operator", { groups: ["maths"], tool, ToolMessage }))
const result = await quartermaster.call({ agentId: "operator", tool: "add", input: { a: 2, b: 3 } })
console.log(result.status, modelText(result))
await quartermaster.close()
console.log([s0, s1, s2, s3, s4].every((names) => Object.keys(names).length > 0) ? "all five designs" : "")
// Nothing closes its app; the program ends by itself.
console.log((await s4.base64_encode.execute({ text: "hello" }, { taskId: "t" })).result)
`

test.each([
  ["nodenext", "nodenext"],
  ["bundler", "esnext"],
])("a TypeScript project compiles under %s, types of dependencies included, and runs", async (resolution, module) => {
  const options = { module, moduleResolution: resolution, target: "es2022", strict: true, skipLibCheck: false }
  const outDir = `out-${resolution}`
  writeFileSync(join(project, "main.ts"), program)
  const config = { compilerOptions: { ...options, outDir }, files: ["main.ts"] }
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config))
  await node(join(repository, "node_modules/typescript/bin/tsc"), "-p", ".")
  const printed = await node(join(outDir, "main.js"))
  for (const text of [
    'success {"sum":5}',
    '{"sum":2}',
    "[ 'add' ]",
    "object",
    "function",
    "all five designs",
    "aGVsbG8=",
  ])
    expect(printed).toContain(text)
})

test("what the package always has works: commands are parsed, ripgrep searches, scripts run, examples run", async () => {
  expect(await qm("why", "run_command", "command=ls | head -3", "--set", "tools.shell.allow=[ls, head]")).toMatch(
    /may call/,
  )
  writeFileSync(join(project, "cli/notes.md"), "a needle\n")
  expect(await qm("call", "search_files", "pattern=needle")).toContain("notes.md")
  expect(await qm("call", "run_javascript", "code=return 6*7")).toContain("42")
  await node(join(installed, "quartermaster/examples/quickstart.mjs"))
})

const page = `<html><head><title>Hello</title></head><body><article><h1>Hello</h1><p>${"A page. ".repeat(50)}</p></article></body></html>`
const pdf = `%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Kids [3 0 R] /Count 1 >>
endobj
3 0 obj
<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] >>
endobj
trailer
<< /Size 4 /Root 1 0 R >>
`

/** Prints how a call of each tool with an optional part ends. */
const optionalParts = `
import { createServer } from "node:http"
import { callbackAdapter, createQuartermaster } from "quartermaster"

const server = createServer((_, response) => {
  response.setHeader("content-type", "text/html")
  response.end(${JSON.stringify(page)})
})
await new Promise((listening) => server.listen(0, "127.0.0.1", listening))
const host = "127.0.0.1:" + server.address().port
const approvals = callbackAdapter({ onExecution: () => true })
const databases = { shop: { url: "sqlite:shop.db" }, crm: { url: "postgres://127.0.0.1:1/crm" } }
const quartermaster = await createQuartermaster({ databases, tools: { hosts: { allow: [host] } } }, { approvals })
const calls = [
  ["read_file", { path: "a.pdf" }],
  ["code_query", { query: "alpha" }],
  ["web_fetch", { url: "http://" + host + "/" }],
  ["query_database", { database: "shop", sql: "select 1" }],
  ["query_database", { database: "crm", sql: "select 1" }],
]
const ended = []
for (const [tool, input] of calls) {
  const { status, error, metadata, result } = await quartermaster.call({ agentId: "operator", tool, input })
  ended.push({ tool, status, toolCode: metadata.toolCode, text: error ?? result.note })
}
console.log(JSON.stringify(ended))
await quartermaster.close()
server.close()
`

test("a model whose provider is not installed says in a sentence how to add it", async () => {
  const text = `
import { createQuartermaster } from "quartermaster"

const at = "http://127.0.0.1:1/v1"
const models = {
  a: { provider: "openai-compatible", baseUrl: at, model: "x" },
  b: { provider: "anthropic", baseUrl: at, model: "x", apiKey: "\${KEY}" },
  c: { provider: "google", baseUrl: at, model: "x", apiKey: "\${KEY}" },
}
const quartermaster = await createQuartermaster({ models }, { environment: { KEY: "k" } })
const ended = []
for (const name of ["a", "b", "c"]) {
  try {
    for await (const _ of quartermaster.models.get(name).stream({ messages: [] }));
  } catch ({ code, message }) {
    ended.push({ code, message })
  }
}
console.log(JSON.stringify(ended))
await quartermaster.close()
`
  writeFileSync(join(project, "models.mjs"), text)
  expect(JSON.parse(await node("models.mjs"))).toEqual(
    ["openai-compatible", "anthropic", "google"].map((name) => ({
      code: "missing_package",
      message: expect.stringMatching(new RegExp(`npm install @ai-sdk/${name}@[0-9.]+[0-9]'`)) as string,
    })),
  )
})

test("a part that is not installed says in a sentence how to add it, and works once it is", async () => {
  writeFileSync(join(project, "a.pdf"), pdf)
  writeFileSync(join(project, "alpha.ts"), "export function alpha() {}\n")
  // An empty file is an empty database.
  writeFileSync(join(project, "shop.db"), "")
  writeFileSync(join(project, "optional.mjs"), optionalParts)
  const ended = async () => JSON.parse(await node("optional.mjs")) as { status: string; text?: string }[]
  const without = await ended()
  expect(without).toMatchObject([
    { tool: "read_file", status: "error", toolCode: "package_missing" },
    // It falls back to a text search, and its note says why.
    { tool: "code_query", status: "success" },
    { tool: "web_fetch", status: "error", toolCode: "package_missing" },
    { tool: "query_database", status: "success" },
    { tool: "query_database", status: "error", toolCode: "package_missing" },
  ])
  const commands = without.map(({ text = "" }) => /npm install ((?:\S+@[\d.]+\d ?)+)/.exec(text)?.[1]?.trim())
  const packages = commands.flatMap((text) => text?.split(" ") ?? [])
  expect(packages.map((name) => name.replace(/@[\d.]+$/, "")).sort()).toEqual([
    "@mozilla/readability",
    "@vscode/tree-sitter-wasm",
    "linkedom",
    "pg",
    "turndown",
    "unpdf",
  ])
  await npm(project, "install", "--prefer-offline", "--no-audit", "--no-fund", ...packages)
  const success = { status: "success" }
  const noServer = { status: "error", toolCode: "database_unreachable" }
  expect(await ended()).toMatchObject([success, success, success, success, noServer])
})
