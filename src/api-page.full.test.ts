import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, onTestFinished, test } from "vitest"

const root = join(import.meta.dirname, "..")
const pages = ["README.md", "docs/API.md"].map((name) => readFileSync(join(root, name), "utf8"))

test("every example of docs/API.md and README.md compiles under strict settings", async () => {
  const folder = mkdtempSync(join(root, "node_modules", ".api-page-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, "examples"))
  for (const [page, text] of pages.entries()) {
    for (const { 1: block = "", index } of text.matchAll(/^```ts\n(.*?)^```$/gms)) {
      const line = text.slice(0, index).split("\n").length
      writeFileSync(join(folder, "examples", `${["readme", "api"][page]}-line-${line}.ts`), block)
    }
  }
  const settings = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: true,
      incremental: false,
      paths: { quartermaster: [join(root, "src/index.ts")], "quartermaster/*": [join(root, "src/loops/*.ts")] },
      types: ["node"],
      typeRoots: [join(root, "node_modules/@types")],
    },
    include: ["examples"],
  }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings))
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  const problems = await promisify(execFile)(process.execPath, [tsc, "-p", folder]).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  )
  expect(problems).toBe("")
})
