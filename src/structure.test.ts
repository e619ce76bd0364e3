import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { transform } from "esbuild"
import { expect, test } from "vitest"
import { openTestApp } from "./testing/test-app.ts"

const root = import.meta.dirname

const base = ["model", "schema", "lib"]

/**
 * Who may import whom, down to the second level: `call` are the files of src/call itself, `call/steps` those of that
 * folder. A part may always import itself. A folder without a row of its own has that of the folder above.
 */
const mayImport: Record<string, readonly string[]> = {
  lib: [],
  model: ["lib"],
  schema: ["model", "lib"],
  registry: [...base, "registry/dialects"],
  "registry/dialects": base,
  "registry/plugins": [...base, "registry"],
  org: base,
  policy: [...base, "policy/checks"],
  "policy/checks": [...base, "policy"],
  guards: ["model", "lib"],
  "guards/paths": ["model", "lib", "guards"],
  "guards/commands": ["model", "lib", "guards", "guards/paths"],
  "guards/hosts": ["model", "lib"],
  "approval-ui": base,
  tools: base,
  "platform/files": [...base, "guards", "guards/paths"],
  "platform/processes": [...base, "guards", "guards/paths", "guards/commands", "platform/files"],
  "platform/web": [...base, "guards/hosts"],
  "platform/code": base,
  "platform/javascript": base,
  "platform/database": base,
  // Modules use the module interface only: the types of what `init` and the calls get.
  modules: ["model"],
  "builtin-modules.ts": ["modules", "model"],
  store: base,
  config: base,
  telemetry: base,
  call: [...base, "policy", "call/steps", "call/stored"],
  "call/steps": [...base, "policy", "call", "call/approvals", "call/stored"],
  "call/approvals": [...base, "policy", "call", "call/stored"],
  "call/stored": [...base, "call"],
  agents: [...base, "call"],
  "agents/chain": [...base, "agents/models", "agents/context", "agents/reflection"],
  "agents/context": [...base, "agents/models", "agents/chain"],
  "agents/reflection": base,
  "agents/society": [...base, "agents/chain", "agents/models", "agents/reflection"],
  "agents/acting": [...base, "agents/chain", "agents/reflection"],
  "agents/models": base,
  "agents/pipeline": [...base, "agents/chain"],
  cli: [
    ...base,
    "app.ts",
    "quartermaster.ts",
    "config",
    "approval-ui",
    "store",
    "http",
    "mcp/server",
    "agents/models",
    "agents/chain",
    "agents/pipeline",
    "agents/society",
    "cli/chat",
  ],
  "cli/chat": [...base, "cli", "config", "agents/models", "agents/chain"],
  loops: [...base, "quartermaster.ts"],
  // The names of the source designs, over everything that the library offers.
  designs: [
    ...base,
    "app.ts",
    "builtin-modules.ts",
    "quartermaster.ts",
    "executor.ts",
    "config",
    "registry",
    "registry/dialects",
    "registry/plugins",
    "approval-ui",
    "call",
    "call/approvals",
    "call/steps",
    "guards/paths",
    "guards/commands",
    "org",
    "mcp/client",
    "agents/acting",
    "agents/chain",
    "agents/models",
    "agents/reflection",
  ],
  "mcp/client": base,
  "mcp/server": [...base, "call/approvals", "http/api"],
  http: ["mcp/server", "http/api", "http/pages", "model", "lib"],
  "http/pages": ["http", "http/api", "model", "lib"],
  client: ["http/api", "model"],
  "http/api": [...base, "quartermaster.ts"],
  "emitter.ts": ["model"],
  "builtin.ts": ["tools", "platform", "guards", "config", "model", "lib"],
  "executor.ts": ["registry", "model"],
  "quartermaster.ts": ["agents", "executor.ts", "call", "registry", "org", "telemetry", "model"],
  "app.ts": [
    "quartermaster.ts",
    "builtin.ts",
    "builtin-modules.ts",
    "emitter.ts",
    "executor.ts",
    "call",
    "registry",
    "org",
    "policy",
    "approval-ui",
    "tools",
    "platform",
    "store",
    "config",
    "telemetry",
    "mcp/client",
    "agents",
    "model",
    "schema",
    "lib",
  ],
  "index.ts": [
    "executor.ts",
    "app.ts",
    "quartermaster.ts",
    "call",
    "registry",
    "approval-ui",
    "config",
    "telemetry",
    "mcp/client",
    "agents",
    "model",
    "schema",
    "lib",
  ],
  "bin.ts": ["cli", "lib"],
}

const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !/\.(test|contract)\.ts$|(^|\/)testing(\.ts|\/)/.test(file))
  .map((file) => join(root, file))

/** The folder of a file, two levels deep; a file directly in src is a part of its own. */
const partOf = (file: string) => {
  const [first = "", second = "", third] = relative(root, file).split("/")
  return third === undefined ? first : `${first}/${second}`
}

const folderOf = (part: string) => part.split("/")[0]!

/** The files in src itself put the parts together: where they may import a folder, they may import all of it. */
function isAllowed(part: string, target: string): boolean {
  const allowed = mayImport[part] ?? mayImport[folderOf(part)] ?? []
  return allowed.includes(target) || (part.endsWith(".ts") && allowed.includes(folderOf(target)))
}

/** What a file imports of ours, types apart from values. */
function importsOf(file: string): { target: string; typeOnly: boolean }[] {
  const text = readFileSync(file, "utf8")
  const statements = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^;'"]*?from\s+["'](\.[^"']+)["']|import\(\s*["'](\.[^"']+)["']\s*\)/g,
  )
  return [...statements].map(([, type, from, dynamic]) => ({
    target: resolve(dirname(file), (from ?? dynamic)!),
    typeOnly: type !== undefined,
  }))
}

test("imports go one way: every part imports only what the table allows", () => {
  const wrong = files.flatMap((file) => {
    const part = partOf(file)
    return importsOf(file)
      .map(({ target }) => partOf(target))
      .filter((target) => target !== part && !isAllowed(part, target))
      .map((target) => `${relative(root, file)} imports ${target}`)
  })
  expect(wrong).toEqual([])
})

test("no file reaches itself through what it imports", () => {
  const values = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter(({ typeOnly }) => !typeOnly)
        .map(({ target }) => target),
    ]),
  )
  const cycles: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file))
      return void cycles.push([...path.slice(path.indexOf(file)), file].map((one) => relative(root, one)).join(" → "))
    if (done.has(file)) return
    for (const next of values.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  expect(cycles).toEqual([])
})

test("the command line starts without loading what only some commands need", () => {
  const loaded = new Set<string>()
  const packages = new Set<string>()
  const load = (file: string): void => {
    if (loaded.has(file)) return
    loaded.add(file)
    const text = readFileSync(file, "utf8")
    for (const [, from = ""] of text.matchAll(/^(?:import|export)(?! type\b)(?:[^;'"]*? from)? "([^"]+)"/gm)) {
      if (from.startsWith(".")) load(resolve(dirname(file), from))
      else if (!from.startsWith("node:")) packages.add(from)
    }
  }
  load(join(root, "bin.ts"))
  expect([...packages].sort()).toEqual(["commander", "fast-string-width"])
  const light = [
    "config/clients.ts",
    "config/config-error.ts",
    "config/find.ts",
    "config/find-project.ts",
    "schema/problems.ts",
  ]
  const heavy = [...loaded]
    .map((file) => relative(root, file))
    .filter((file) => !["bin.ts", "cli", "lib", "model"].includes(partOf(join(root, file))) && !light.includes(file))
  expect(heavy).toEqual([])
})

test("the source can be bundled as ASCII: a tagged template or regular expression writes other characters as escapes or entities", async () => {
  const odd = files.map(async (file) => {
    const text = readFileSync(file, "utf8")
    if (!/[^\0-\x7f]/.test(text)) return []
    const { code } = await transform(text, {
      loader: "ts",
      charset: "ascii",
      minifyWhitespace: true,
    })
    return /[^\0-\x7f]/.test(code) ? [relative(root, file)] : []
  })
  expect((await Promise.all(odd)).flat()).toEqual([])
})

test("policy reads no disk", () => {
  const wrong = files.filter(
    (file) => folderOf(partOf(file)) === "policy" && /node:fs/.test(readFileSync(file, "utf8")),
  )
  expect(wrong.map((file) => relative(root, file))).toEqual([])
})

test("nothing asks URL.canParse, which errs in Node 20 once it was asked often", () => {
  const wrong = files.filter((file) => readFileSync(file, "utf8").includes("URL.canParse("))
  expect(wrong.map((file) => relative(root, file))).toEqual([])
})

test("nothing outside its own file branches on a tool's name", async () => {
  const { registry } = await openTestApp()
  const names = [...registry.names()]
  expect(names).toContain("run_command")
  // Tables of what tools are called elsewhere, the tools of the agent loop and of pipelines, the one that reads on in a cut
  // result, and the removal of the sample.
  const tables = [
    "registry/dialects/",
    "config/import-claude-tools.ts",
    "agents/chain/loop-tools.ts",
    "agents/pipeline/run-pipeline-tool.ts",
    "interfaces/http/routes/sample.ts",
    "core/artifact-reader.ts",
    "designs/",
  ]
  const wrong = files
    .filter((file) => !["tools", "cli"].includes(folderOf(partOf(file))))
    .filter((file) => !tables.some((table) => relative(root, file).startsWith(table)))
    .flatMap((file) => {
      // A name in a sentence decides nothing.
      const text = readFileSync(file, "utf8").replaceAll(/\$\{toolRef\("\w+"\)\}/g, "")
      return names.filter((name) => text.includes(`"${name}"`)).map((name) => `${relative(root, file)} names ${name}`)
    })
  expect(wrong).toEqual([])
})
