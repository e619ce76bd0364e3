import { createRequire } from "node:module"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { PluginEntry } from "./plugin.ts"
import { openDatabase } from "../../store/sqlite/database.ts"
import { SqliteDocuments } from "../../store/sqlite/documents.ts"
import { migrate } from "../../store/sqlite/kysely.ts"
import { temporaryFolder, until } from "../../testing/test-app.ts"
import { ToolRegistry } from "../registry.ts"
import { pluginCatalog } from "./catalog.ts"
import type { Import } from "./import-file.ts"

const nativeImport = createRequire(import.meta.url)("./testing/native-import.cjs") as Import

const source = (name: string, n = 1) =>
  `export default { name: "${name}", version: "1.0.0", tools: [{ name: "${name}_tool", description: "A tool.", effect: "none", parameters: [], execute: async () => ({ success: true, data: ${n} }) }] }`

/** Processes over one database, each with a registry of its own. */
async function openCatalogs(...files: string[]) {
  const base = temporaryFolder()
  const write = (name: string, n?: number) => writeFileSync(join(base, `${name}.mjs`), source(name, n))
  for (const name of files) write(name)
  const entries = files.map((name): PluginEntry => ({ path: `./${name}.mjs` }))
  const file = join(base, "plugins.db")
  const open = async (given = entries) => {
    const database = await openDatabase(file)
    onTestFinished(() => database.close())
    await migrate(database)
    const documents = new SqliteDocuments(database)
    const registry = new ToolRegistry()
    const catalog = pluginCatalog(given, { registry, documents, base, import: nativeImport })
    onTestFinished(() => catalog.close())
    await catalog.start()
    return { catalog, registry, documents }
  }
  return { open, write, base }
}

const states = (list: readonly { name: string; state: string }[]) => list.map(({ name, state }) => `${name} ${state}`)

test("what is loaded is kept with its hash, once as long as it is the same", async () => {
  const { open, write } = await openCatalogs("one")
  const first = await open()
  const kept = first.documents.get("plugin", "one")
  const [state] = first.catalog.list()
  expect(kept).toMatchObject({
    changedBy: "configuration",
    body: { name: "one", given: "./one.mjs", sha256: state?.digest?.sha256, tools: ["system:one_tool@1.0.0"] },
  })
  const second = await open()
  expect(second.documents.get("plugin", "one")?.change).toBe(kept?.change)
  write("one", 2)
  const third = await open()
  expect(third.documents.get("plugin", "one")?.change).toBeGreaterThan(kept!.change)
})

test("a plugin that is switched off leaves every process, stays off after a start, and comes back when it is switched on", async () => {
  const { open } = await openCatalogs("one", "two")
  const [here, there] = [await open(), await open()]
  expect(await here.catalog.switchOff("one", "ann")).toMatchObject({ name: "one", state: "off" })
  expect([here.registry.has("one_tool"), here.registry.groups.hasGroup("one")]).toEqual([false, false])
  await there.documents.refresh()
  await until(() => !there.registry.has("one_tool"), "it left the other process")
  expect(there.registry.has("two_tool")).toBe(true)
  const later = await open()
  expect(states(later.catalog.list())).toEqual(["two loaded", "one off"])
  expect(later.catalog.list()[1]?.problem).toContain("ann switched it off at")
  expect(await later.catalog.switchOff("one", "ann")).toBeUndefined()
  expect(await later.catalog.switchOn("one", "bob")).toMatchObject({ name: "one", state: "loaded" })
  expect(await later.catalog.switchOn("one", "bob")).toBeUndefined()
  await here.documents.refresh()
  await until(() => here.registry.has("one_tool"), "it came back in the first process")
  expect(states(here.catalog.list())).toEqual(["two loaded", "one loaded"])
})

test("one that is tried is there until its process ends, and is not switched off", async () => {
  const { open } = await openCatalogs("one", "tried")
  const { catalog, registry } = await open([{ path: "./one.mjs" }])
  expect(await catalog.load({ path: "./tried.mjs" })).toMatchObject({ name: "tried", state: "loaded" })
  expect(registry.has("tried_tool")).toBe(true)
  await expect(catalog.switchOff("tried", "ann")).rejects.toThrow("is not in the configuration")
  const next = await open([{ path: "./one.mjs" }])
  expect(states(next.catalog.list())).toEqual(["one loaded"])
})

test("switched on again when its file is broken meanwhile, it is shown as failed", async () => {
  const { open, base } = await openCatalogs("one")
  const first = await open()
  await first.catalog.switchOff("one", "ann")
  writeFileSync(join(base, "one.mjs"), "export default {")
  const { catalog } = await open()
  expect(await catalog.switchOn("one", "ann")).toMatchObject({ state: "failed", given: "./one.mjs" })
})

test("a plugin that cannot be written down is not loaded", async () => {
  const { open } = await openCatalogs("one")
  const { documents } = await open([])
  const registry = new ToolRegistry()
  const refusing = Object.assign(Object.create(documents) as typeof documents, {
    all: () => [],
    get: () => undefined,
    onChange: () => {},
    put: () => Promise.reject(new Error("The disk is full.")),
  })
  const { base } = await openCatalogs("one")
  const catalog = pluginCatalog([{ path: "./one.mjs" }], { registry, documents: refusing, base, import: nativeImport })
  await catalog.start()
  expect(catalog.list()).toMatchObject([{ state: "failed", problem: "The disk is full." }])
  expect(registry.list()).toEqual([])
})
