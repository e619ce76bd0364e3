import { execFile } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { temporaryFolder } from "../testing/test-app.ts"

const root = join(import.meta.dirname, "../..")
const programs = join(root, "test/designs")
const run = promisify(execFile)

/** The errors of the compiler are on stdout. */
const output = (error: unknown) => String((error as { stdout?: string }).stdout) + String(error)

test.each(readdirSync(programs))("what the design shows compiles under strict settings and runs: %s", async (name) => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, "node_modules"))
  symlinkSync(root, join(folder, "node_modules/quartermaster"))
  symlinkSync(join(root, "node_modules/zod"), join(folder, "node_modules/zod"))
  writeFileSync(join(folder, "main.ts"), readFileSync(join(programs, name)))
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "example", private: true, type: "module" }))
  const options = { module: "nodenext", target: "es2022", strict: true, types: ["node"] }
  const compilerOptions = { ...options, typeRoots: [join(root, "node_modules/@types")] }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }))
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."], { cwd: folder }).catch(
    (error: unknown) => expect.fail(output(error)),
  )
  const { stdout } = await run(process.execPath, ["main.js"], { cwd: folder, env: { ...process.env, HOME: folder } })
  expect(stdout.trim()).toBe("done")
})
