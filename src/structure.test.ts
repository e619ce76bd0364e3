import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { transform } from "esbuild"
import { expect, test } from "vitest"
import { openTestApp } from "./testing/test-app.ts"

const root = import.meta.dirname

function folders(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(" "))
}

/** The folders of src that a folder's files may import, types included. A file right in src is a folder of its own. */
const mayImport: Record<string, readonly string[]> = {
  lib: [],
  core: ["lib"],
  messages: ["core", "lib", "policy"],
  schema: ["core", "lib"],
  guards: ["core", "lib"],
  store: ["core", "lib"],
  platform: ["core", "lib", "guards"],
  audit: ["core", "lib", "schema", "store", "platform"],
  org: ["core", "lib", "schema", "store"],
  registry: ["core", "lib", "schema", "store", "audit"],
  policy: ["core", "lib", "schema", "store", "audit", "org", "registry"],
  approvals: ["core", "lib", "schema", "messages", "store", "audit", "org", "registry", "policy"],
  call: ["core", "lib", "schema", "store", "audit", "org", "registry", "policy", "approvals"],
  tools: ["core", "lib", "schema", "store", "org", "platform"],
  // Modules use the module interface only: the types of what `init` and the calls get.
  modules: ["core", "platform"],
  "mcp-servers": ["core", "lib", "schema"],
  config: ["core", "lib", "schema", "registry", "platform", "call"],
  telemetry: ["core", "schema", "audit"],
  agents: ["core", "lib", "schema", "store", "org", "registry", "policy", "approvals", "call", "config", "tools"],
  app: folders(
    "core lib schema guards store audit org registry policy approvals call",
    "tools modules platform mcp-servers config telemetry agents",
  ),
  interfaces: folders(
    "core lib schema messages store audit org registry policy approvals",
    "platform config agents app",
  ),
  // The names of the source designs, over everything that the library offers.
  designs: folders("core lib schema guards store registry policy approvals call mcp-servers", "config agents app"),
  "index.ts": folders(
    "core schema store audit org registry policy approvals call platform",
    "mcp-servers config telemetry agents app",
  ),
  "bin.ts": ["interfaces", "lib"],
}

/** The parts of a folder that only these may import. */
const onlyFor: Record<string, readonly string[]> = {
  "store/sqlite": ["app", "audit", "interfaces/cli"],
  "policy/checks": ["policy", "messages"],
  "approvals/ask": ["app", "interfaces", "designs", "index.ts"],
}

const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !/\.(test|contract)\.ts$|(^|\/)testing(\.ts|\/)/.test(file))
  .map((file) => join(root, file))

/** The folder of a file, so many levels deep. */
const folderOf = (file: string, depth: number) => {
  const steps = relative(root, file).split("/")
  return steps.slice(0, Math.max(1, Math.min(depth, steps.length - 1))).join("/")
}

/** Returns a file's imports of ours, types apart from values. */
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

test("imports go one way: every folder imports only what the table allows", () => {
  const isIn = (file: string, folders: readonly string[]) =>
    folders.some((folder) => `${relative(root, file)}/`.startsWith(`${folder}/`))
  const wrong = files.flatMap((file) => {
    const own = folderOf(file, 1)
    return importsOf(file)
      .filter(({ target }) => {
        const folder = folderOf(target, 1)
        if (folder !== own && !mayImport[own]?.includes(folder)) return true
        const part = folderOf(target, 2)
        return onlyFor[part] !== undefined && !isIn(file, [part, ...onlyFor[part]])
      })
      .map(({ target }) => `${relative(root, file)} imports ${relative(root, target)}`)
  })
  expect(wrong).toEqual([])
})

test.each([1, 2, 3])(
  "no folder reaches itself through what its files import, types included, %i levels deep",
  (depth) => {
    const graph = new Map<string, Set<string>>()
    for (const file of files) {
      const own = folderOf(file, depth)
      const others = importsOf(file).map(({ target }) => folderOf(target, depth))
      graph.set(own, new Set([...(graph.get(own) ?? []), ...others.filter((other) => other !== own)]))
    }
    expect(cyclesIn(graph)).toEqual([])
  },
)

/** Every way in a graph that leads back to where it began. */
function cyclesIn(graph: ReadonlyMap<string, Iterable<string>>): string[] {
  const cycles: string[] = []
  const done = new Set<string>()
  const visit = (at: string, path: string[]): void => {
    if (path.includes(at)) return void cycles.push([...path.slice(path.indexOf(at)), at].join(" → "))
    if (done.has(at)) return
    for (const next of graph.get(at) ?? []) visit(next, [...path, at])
    done.add(at)
  }
  for (const start of graph.keys()) visit(start, [])
  return cycles
}

test("no file reaches itself through what it imports", () => {
  const values = files.map((file): [string, string[]] => [
    relative(root, file),
    importsOf(file)
      .filter(({ typeOnly }) => !typeOnly)
      .map(({ target }) => relative(root, target)),
  ])
  expect(cyclesIn(new Map(values))).toEqual([])
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
    "approvals/nobody-asked.ts",
    "approvals/waits.ts",
    "audit/exported-call.ts",
    "config/client-places.ts",
    "config/clients.ts",
    "config/config-error.ts",
    "config/find.ts",
    "config/find-project.ts",
    "config/run-limits.ts",
    "org/organisation-admin.ts",
    "org/orphaned-agents.ts",
    "org/sample.ts",
    "registry/builtin-groups.ts",
    "schema/intent-text.ts",
    "schema/problems.ts",
    "store/change-feed.ts",
  ]
  const heavy = [...loaded]
    .map((file) => relative(root, file))
    .filter((file) => !/^(bin\.ts$|interfaces\/cli\/|lib\/|core\/)/.test(file) && !light.includes(file))
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
  const wrong = files.filter((file) => folderOf(file, 1) === "policy" && /node:fs/.test(readFileSync(file, "utf8")))
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
    .filter((file) => !["tools", "interfaces/cli"].some((folder) => relative(root, file).startsWith(`${folder}/`)))
    .filter((file) => !tables.some((table) => relative(root, file).startsWith(table)))
    .flatMap((file) => {
      // A name in a sentence decides nothing.
      const text = readFileSync(file, "utf8").replaceAll(/\$\{toolRef\("\w+"\)\}|ifParameter\("\w+"/g, "")
      return names.filter((name) => text.includes(`"${name}"`)).map((name) => `${relative(root, file)} names ${name}`)
    })
  expect(wrong).toEqual([])
})
