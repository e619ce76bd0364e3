import { readdirSync } from "node:fs"
import { spawn } from "node:child_process"
import { expect, test } from "vitest"
import { makeDataFolder } from "./testing/known-folders.ts"

test("ten processes that create one folder at once all know it and agree on its id", async () => {
  const { dataDir, home, notes } = makeDataFolder()
  const source = `
    import { requireKnownFolder } from ${JSON.stringify(import.meta.resolve("../../dist/config/known-folders.js"))}
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
