import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { guardWith, verdictOf, type Verdict } from "./testing.ts"

let workspace: string
beforeAll(() => {
  workspace = mkdtempSync(join(realpathSync(tmpdir()), "quartermaster-programs-"))
  write("packages/api/.env", "KEY=1\n")
  write("packages/api/x.ts", "KEY\n")
  write("src/.eslintrc.ts", "KEY\n")
  write("src/a.ts", "KEY\n")
  for (const file of [".git/HEAD", "clone/.git/HEAD"]) write(file, "")
  for (const folder of ["clone/inner", "node_modules/evil"]) write(`${folder}/package.json`, "{}")
})
afterAll(() => rmSync(workspace, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(workspace, path)), { recursive: true })
  writeFileSync(join(workspace, path), text)
}

const verdict = async (line: string, allow?: readonly string[]) =>
  verdictOf(await guardWith({ workspace, ...(allow === undefined ? {} : { allow }) }), line).verdict

test.each<[string, Verdict]>([
  ["rg KEY src", "allow"],
  ["rg --type ts KEY src", "allow"],
  ["rg KEY src 2>/dev/null | head -5", "allow"],
  ["rg KEY packages", "ask"],
  ["rg -T sh KEY packages", "ask"],
  ["rg KEY", "ask"],
  ["rg KEY src > o", "ask"],
])("rg counts as reading hidden files, because ignore files can include them again: %s: %s", async (line, expected) => {
  expect(await verdict(line)).toBe(expected)
})

test.each<[string, Verdict]>([
  ["find src -name '*.ts' -not -path '*/deep/*'", "allow"],
  ["find src \\( -name a.ts -o -name b.ts \\) -print", "allow"],
  ["find . -name packages -prune -o -type f -print0", "allow"],
  ["find src -newer src/a.ts -maxdepth 2 -size +1k -ls", "allow"],
  ["find . -newer /etc/passwd", "deny"],
  ["find src -maxdepth 1 -maxdepth 9", "ask"],
  ["find src -depth -name x -prune", "ask"],
  ["find src -name", "ask"],
  ["find src -name *.ts", "ask"],
  ["find src -o -name x", "ask"],
  ["find src -name x -o", "ask"],
  ["find src \\( -name x", "ask"],
  ["find src -name x \\)", "ask"],
  ["find src \\( \\)", "ask"],
  ["find src ! -delete", "ask"],
  ["find src -fprint o", "ask"],
  ["find src -name '*.ts' -exec cat {} +", "ask"],
  ["find src -name '*.ts' -execdir cat {} +", "ask"],
  ["find src -name '*.ts' -ok cat {} \\;", "ask"],
  ["find src -name '*.ts' | xargs cat", "ask"],
  ["find src -name '*.ts' | xargs rm", "deny"],
  ["find src -name '*.ts' -exec sudo cat {} +", "deny"],
])("find is proved only when it prints names and runs nothing: %s: %s", async (line, expected) => {
  expect(await verdict(line)).toBe(expected)
})

test.each<[string, Verdict]>([
  ["sed -n '5,10p' src/a.ts", "allow"],
  ["sed -n 5p src/a.ts", "allow"],
  ["sed --quiet '$p' src/a.ts", "allow"],
  ["cat src/a.ts | sed -n '2,$p'", "allow"],
  ["sed -n '1p' packages/api/.env", "ask"],
  ["sed '5,10p' src/a.ts", "ask"],
  ["sed -n '5,10p;w o' src/a.ts", "ask"],
  ["sed -n '5,10p\n1e id' src/a.ts", "ask"],
  ["sed -n 5p src/a.ts -i", "ask"],
  ["sed -n -e 5p src/a.ts", "ask"],
  ["sed -n", "ask"],
  ["sed -n 5p *", "ask"],
  ["awk '{print}' src/a.ts", "ask"],
  ["xargs cat", "ask"],
])("of awk and sed scripts, only plain line ranges of sed -n are proved: %s: %s", async (line, expected) => {
  expect(await verdict(line, ["sed", "cat", "awk", "xargs", "xargs cat"])).toBe(expected)
})

test.each<[string, Verdict]>([
  ["cat src/a.ts | rg --hidden KEY", "allow"],
  ["cat src/a.ts | timeout 5 rg -i KEY | head -3", "allow"],
  ["cat src/a.ts | rg --hidden KEY < /dev/null", "ask"],
  ["cat src/a.ts | rg --hidden KEY <<< x", "ask"],
  ["cat src/a.ts | rg --hidden --files", "ask"],
  ["cat src/a.ts | rg --hidden KEY packages", "ask"],
  ["cat src/a.ts | rg --hidden -e KEY packages", "ask"],
  ["cat src/a.ts && rg --hidden KEY", "ask"],
  ["cat src/a.ts; rg --hidden KEY", "ask"],
  ["cat src/a.ts | { rg --hidden KEY; }", "ask"],
  ["cat src/a.ts | grep -r KEY", "ask"],
])("after a pipe rg reads its input: %s: %s", async (line, expected) => {
  expect(await verdict(line)).toBe(expected)
})

test.each<[string, Verdict]>([
  ["npm test", "allow"],
  ["cd packages/api && npm test", "allow"],
  ["cd clone && npm test", "ask"],
  ["cd clone/inner && npm test -- x", "ask"],
  ["cd node_modules/evil && npm test", "ask"],
  ["cd packages/api && npm test -w ../../clone", "ask"],
  ["npm test -w clone", "ask"],
  ["npm test --workspace=./clone/inner", "ask"],
  ["npm test -w packages/api", "allow"],
  ["npm test -w @some/name --loglevel error", "allow"],
  ["cd clone && make", "ask"],
  ["cd packages && make all", "allow"],
])("scripts of nested repositories and packages ask: %s: %s", async (line, expected) => {
  expect(await verdict(line, ["npm test", "make"])).toBe(expected)
})

test.each<[string, Verdict]>([
  ["od -w packages/api/.env", "ask"],
  ["od -w16 src/a.ts", "allow"],
  ["make -j SHELL=./x", "ask"],
  ["make -j 4 all", "allow"],
  ["make -j4", "allow"],
  ["diff packages/api src", "ask"],
  ["diff -u src/a.ts packages/api/x.ts", "allow"],
])("other programs that read more than their arguments show: %s: %s", async (line, expected) => {
  expect(await verdict(line, ["od", "make", "diff"])).toBe(expected)
})
