import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { isPlainAwk } from "./awk.ts"

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "quartermaster-awk-"))
  writeFileSync(join(folder, "hidden"), "told\n")
  writeFileSync(join(folder, "f"), "1 a\n2 b\n")
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const values = ["$1", "x", '"v"', "/a/", "n/2", "(x > n)", "x (n)", "a[n > 1]", "length", "!x", "1 /2/ 3"]
const acts = ["print V", "print V, V", "print(V)(V)", 'printf("%s", V)', "x = V > V", "n = V / 2", "if (V) n++", "getline", "getline x", "(getline x) > 0"] // prettier-ignore
const dangers = ["print V > o", "print(V) >> o", "print V,\nV > o", "print V | t", "printf V > V o", "system(t)", "system (t)", "5system(t)", "getline x < h; print x", "while ((getline x < h) > 0) print x", 'c | getline x; print x', "ARGV[1] = h"] // prettier-ignore
const covers = ["S", "S", '# S\n', 'x = "S"', "/S/", 'if (1) /"/; S; /"/', 'n = n / 2; S; n = n / 2', '/[/]"/; S #/"', "/[^]/]/; S", "x = n /S/ 2", 'if (V > 1) { S }', "while (n++ < 1) S", "x++ /S/ 2", "# c \\\nS", '"\\""; S; x = "\\""', "{ S }"] // prettier-ignore
const settings = 'BEGIN { o = "made"; t = "touch made"; h = "hidden"; c = "cat hidden"; n = 2 }'
const someAct = fc
  .tuple(fc.constantFrom(...acts, ...dangers), fc.infiniteStream(fc.constantFrom(...values)))
  .map(([act, stream]) => act.replaceAll("V", () => stream.next().value))
const someScript = fc
  .array(
    fc
      .tuple(fc.constantFrom(...covers), someAct)
      .map(([cover, act]) => cover.replaceAll("V", "x").replace("S", () => act)),
    { minLength: 1, maxLength: 2 },
  )
  .chain((parts) => fc.constantFrom(...["; ", "\n"].map((gap) => `${settings}\n{ ${parts.join(gap)} }`)))

test("what is taken for plain makes no file, and reads none that is not among its words", () => {
  let tried = 0
  fc.assert(
    fc.property(someScript.filter(isPlainAwk), (script) => {
      tried++
      const { stdout } = spawnSync("awk", [script, "f"], { cwd: folder, input: "", encoding: "utf8", timeout: 5000 })
      expect(readdirSync(folder), script).toEqual(["f", "hidden"])
      expect(readFileSync(join(folder, "f"), "utf8")).toBe("1 a\n2 b\n")
      expect(stdout ?? "", script).not.toContain("told")
    }),
    { numRuns: 500 },
  )
  expect(tried).toBeGreaterThanOrEqual(500)
})
