import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { expect, test } from "vitest"

const root = import.meta.dirname

/** Who may import whom. A part may always import itself; the parts not named here may be imported by nobody. */
const mayImport: Record<string, readonly string[]> = {
  model: [],
  registry: ["model"],
  org: ["model"],
  policy: ["model"],
  approval: ["model"],
  tools: ["model"],
  world: ["model", "policy"],
  store: ["model"],
  config: ["model"],
  telemetry: ["model"],
  call: ["policy", "model"],
  cli: ["call", "model"],
  "mcp/client": ["model"],
  "mcp/server": ["call", "model"],
  http: ["mcp/server", "call", "model"],
  "emitter.ts": ["model"],
  "builtin.ts": ["tools", "world", "policy", "config", "model"],
  "quartermaster.ts": ["call", "registry", "org", "telemetry", "model"],
  "app.ts": [
    "quartermaster.ts",
    "builtin.ts",
    "call",
    "registry",
    "org",
    "policy",
    "approval",
    "tools",
    "world",
    "store",
    "config",
    "telemetry",
    "mcp/client",
    "model",
    "emitter.ts",
  ],
  "index.ts": [
    "app.ts",
    "quartermaster.ts",
    "call",
    "registry",
    "approval",
    "config",
    "telemetry",
    "mcp/client",
    "model",
  ],
  "bin.ts": ["app.ts", "quartermaster.ts", "cli", "approval", "config", "store", "http", "mcp/server", "model"],
}

const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !/\.(test|contract)\.ts$|(^|\/)testing(\.ts|\/)/.test(file))
  .map((file) => join(root, file))

/** MCP has two sides, and neither knows the other. */
const partOf = (file: string) => {
  const [first = "", second = ""] = relative(root, file).split("/")
  return first === "mcp" ? `${first}/${second}` : first
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
      .filter((target) => target !== part && !mayImport[part]?.includes(target))
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
  const walk = (file: string, path: string[]): void => {
    if (path.includes(file))
      return void cycles.push([...path.slice(path.indexOf(file)), file].map((one) => relative(root, one)).join(" → "))
    if (done.has(file)) return
    for (const next of values.get(file) ?? []) walk(next, [...path, file])
    done.add(file)
  }
  for (const file of files) walk(file, [])
  expect(cycles).toEqual([])
})

test("nothing asks URL.canParse, which errs in Node 20 once it was asked often", () => {
  const wrong = files.filter((file) => readFileSync(file, "utf8").includes("URL.canParse("))
  expect(wrong.map((file) => relative(root, file))).toEqual([])
})

test("nothing outside its own file branches on a tool's name", () => {
  const names = [
    "json_parse",
    "base64_encode",
    "current_time",
    "set_env",
    "get_env",
    "ask_user",
    "console_print",
    "put_artifact",
    "read_file",
    "run_command",
    "web_fetch",
  ]
  // Tables of what tools are called elsewhere.
  const tables = ["registry/dialects/", "config/import-own-tools.ts"]
  const wrong = files
    .filter((file) => partOf(file) !== "tools" && partOf(file) !== "cli")
    .filter((file) => !tables.some((table) => relative(root, file).startsWith(table)))
    .filter((file) => names.some((name) => readFileSync(file, "utf8").includes(`"${name}"`)))
  expect(wrong.map((file) => relative(root, file))).toEqual([])
})
