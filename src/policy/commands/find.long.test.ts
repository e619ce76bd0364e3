import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { openDisk } from "./disk.ts"
import { readFind } from "./find.ts"

const files = ["src/a.ts", "src/b.ts", "src/deep/c.ts", "README.md", "packages/api/.env", "packages/api/x.ts", "odd/x y.ts", "empty/.keep"] // prettier-ignore
let folder: string
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "quartermaster-find-")))
  for (const file of files) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    writeFileSync(join(folder, file), file.length % 2 === 0 ? "x\n" : "")
  }
  mkdirSync(join(folder, "linked"))
  symlinkSync("/etc/passwd", join(folder, "linked/p.ts"))
  symlinkSync("../src", join(folder, "linked/src"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const atoms = ["-name '*.ts'", "-name a.ts", "-iname 'README*'", "-name '.*'", "-path './src/*'", "-path '*/api/*'", "-type f", "-type d", "-type l", "-maxdepth 2", "-empty", "-size +0", "-prune", "-print", "-name src -prune", "-newer README.md", "-true", "-false", "-regex '.*d.*'", "-name '?.ts'"] // prettier-ignore
const someExpression = fc.letrec<{ expression: string; part: string }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 3 },
    { weight: 5, arbitrary: fc.constantFrom(...atoms) },
    { weight: 1, arbitrary: tie("part").map((part) => `! ${part.includes(" -prune") ? "-true" : part}`) },
    { weight: 1, arbitrary: tie("expression").map((inner) => `\\( ${inner} \\)`) },
  ),
  expression: fc
    .array(fc.tuple(tie("part"), fc.constantFrom(" ", " ", " -o ", " -a ", " , ")), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.map(([part, join], at) => (at === 0 ? part : join + part)).join("")),
})).expression

test("every name that find prints is among those that are looked at", () => {
  let named = 0
  fc.assert(
    fc.property(someExpression, fc.constantFrom(".", "src", "packages/ src", "linked", ""), (expression, roots) => {
      const line = `find ${roots} ${expression}`
      const { stdout } = spawnSync("/bin/bash", ["--norc", "-c", line], { cwd: folder, encoding: "utf8" })
      const words = line.match(/'[^']*'|\S+/g)!.slice(1)
      const args = words.map((word) => ({ value: word.replace(/^'|'$|\\/g, ""), glob: -1 }))
      const use = readFind(args)
      if ("because" in use || use.prints === undefined) return
      const names = use.prints.names(folder, openDisk())
      for (const name of stdout.split("\n").filter((one) => one !== "")) {
        named++
        expect(names, line).toContain(name)
      }
    }),
    { numRuns: 500 },
  )
  expect(named).toBeGreaterThan(500)
})
