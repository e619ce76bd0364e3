import { readdirSync, writeFileSync } from "node:fs"
import { spawn, spawnSync } from "node:child_process"
import { join } from "node:path"
import { expect, test } from "vitest"
import { makeDataFolder } from "./testing/known-folders.ts"

test("ten processes that create one folder at once all know it and agree on its id", async () => {
  const { dataDir, home, notes } = makeDataFolder()
  const source = `
    import { requireKnownFolder } from ${JSON.stringify(import.meta.resolve("../../build/config/known-folders.js"))}
    requireKnownFolder(${JSON.stringify(dataDir)}, { home: ${JSON.stringify(home)}, env: {}, named: false })
    requireKnownFolder(${JSON.stringify(dataDir)}, { home: ${JSON.stringify(home)}, env: {}, named: false })`
  const codes = await Promise.all(
    Array.from({ length: 10 }, () => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: "inherit" })
      return new Promise<number | null>((resolve) => child.on("close", resolve))
    }),
  )
  expect(codes).toEqual(Array.from({ length: 10 }, () => 0))
  expect(readdirSync(dataDir)).toEqual([".gitignore", "store.id"])
  expect(readdirSync(notes)).toHaveLength(1)
})

const library = (name: string) => JSON.stringify(import.meta.resolve(`../../build/${name}.js`))

test.each([
  [
    "createQuartermaster",
    `import { createQuartermaster } from ${library("index")}
     const app = await createQuartermaster()
     console.log((await app.call({ agentId: "operator", tool: "current_time", input: {} })).success)
     await app.close()`,
  ],
  [
    "createQuartermaster with a file that names it",
    `import { createQuartermaster } from ${library("index")}
     import { loadConfig } from ${library("designs/s4/index")}
     const app = await createQuartermaster(loadConfig("config.yml"))
     console.log((await app.call({ agentId: "operator", tool: "current_time", input: {} })).success)
     await app.close()`,
  ],
  [
    "the manager of S3",
    `import { ToolManager } from ${library("designs/s3/index")}
     console.log((await new ToolManager().execute({ name: "file_list", arguments: { path: "." } })).success)`,
  ],
  [
    "the executor of S4",
    `import { ToolExecutor, ToolRegistry, list_files } from ${library("designs/s4/index")}
     const registry = new ToolRegistry()
     registry.register(list_files)
     console.log((await new ToolExecutor(registry).execute("list_files", { path: "." }, { taskId: "t" })).success)`,
  ],
])("%s refuses a data folder that came with a repository", (_, source) => {
  const { cwd, home, dataDir } = makeDataFolder()
  writeFileSync(join(cwd, "config.yml"), `data: { dir: ${dataDir} }\n`)
  const run = (as: string) => {
    const child = spawnSync(process.execPath, ["--input-type=module", "-e", source], {
      cwd,
      env: { ...process.env, HOME: as, NODE_NO_WARNINGS: "1" },
      encoding: "utf8",
    })
    return `${child.stdout}${child.stderr}`
  }
  expect(run(home)).toContain("true")
  expect(run(home)).toContain("true")
  // Another person clones the repository with the folder in it.
  const other = makeDataFolder().home
  expect(run(other)).toContain("was not created by you on this machine")
})
