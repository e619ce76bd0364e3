import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest"
import { guardWith, verdictOf, type Verdict } from "./testing.ts"

let workspace: string
beforeEach(() => {
  workspace = mkdtempSync(join(realpathSync(tmpdir()), "quartermaster-unhidden-"))
  write("packages/api/.env", "KEY=1\n")
  write("packages/api/x.ts", "KEY\n")
  write("src/.eslintrc.ts", "KEY\n")
  write("src/a.ts", "KEY\n")
})
afterEach(() => rmSync(workspace, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(workspace, path)), { recursive: true })
  writeFileSync(join(workspace, path), text)
}

const verdict = async (line: string, allow?: readonly string[]) =>
  verdictOf(await guardWith({ workspace, ...(allow === undefined ? {} : { allow }) }), line).verdict

describe("what a file that says what to leave out brings back, counts as read by rg", () => {
  test.each<[string, string, Verdict]>([
    [".ignore", "!.env", "ask"],
    ["packages/.ignore", "!.env", "ask"],
    ["packages/api/.rgignore", "!/.env", "ask"],
    ["packages/.gitignore", "*\n!api/.env\n", "ask"],
    [".git/info/exclude", "!.env*", "ask"],
    ["packages/.ignore", "\uFEFF!.ENV", "ask"],
    ["packages/.ignore", "x\r\n!.env \r\n", "ask"],
    ["packages/.ignore", "!*", "ask"],
    ["packages/.ignore", "!**", "ask"],
    ["packages/.ignore", "!?env", "ask"],
    ["packages/.ignore", "![.]env", "ask"],
    ["packages/.ignore", "!\\.env", "ask"],
    ["packages/.ignore", "!{.env,a/b}", "ask"],
    ["packages/.ignore", "!api/**", "ask"],
    ["packages/.ignore", "!/", "ask"],
    ["packages/.ignore", "!.*", "ask"],
    [".gitignore", "node_modules\n!.env.example\n!.vscode/settings.json\n!dist/\n", "allow"],
    [".gitignore", "!**/.gitkeep", "allow"],
    [".gitignore", "# !.env\n\\!.env\n !.env", "allow"],
    ["src/.ignore", "!.env", "allow"],
  ])("%s with %j: %s", async (file, text, expected) => {
    write(file, text)
    expect(await verdict("rg KEY packages")).toBe(expected)
  })

  test("one that cannot be looked at may say anything", async () => {
    write("packages/.ignore", "#".repeat(1_000_001))
    expect(await verdict("rg KEY packages")).toBe("ask")
    rmSync(join(workspace, "packages/.ignore"))
    execFileSync("mkfifo", [join(workspace, "packages/.ignore")])
    // Whoever waits for the pipe gets this, so that the test ends.
    const writer = spawn("sh", ["-c", "echo > packages/.ignore"], { cwd: workspace, stdio: "ignore" })
    onTestFinished(() => void writer.kill("SIGKILL"))
    expect(await verdict("rg KEY packages")).toBe("ask")
  })

  test("one behind a link is read as rg does, and a folder of that name is none", async () => {
    write("elsewhere", "!.env")
    symlinkSync("../elsewhere", join(workspace, "packages/.ignore"))
    expect(await verdict("rg KEY packages")).toBe("ask")
    write("elsewhere", "!dist")
    expect(await verdict("rg KEY packages")).toBe("allow")
    mkdirSync(join(workspace, "packages/.rgignore"))
    expect(await verdict("rg KEY packages")).toBe("allow")
  })

  test("a folder that is brought back is read with all that is in it", async () => {
    write("src/.config/deep/.env", "KEY=1\n")
    expect(await verdict("rg KEY src")).toBe("allow")
    write("src/.ignore", "!.config/\n")
    expect(await verdict("rg KEY src")).toBe("ask")
  })
})

test.each<[string, Verdict]>([
  ["rg -t sh KEY packages", "ask"],
  ["rg -tsh KEY packages", "ask"],
  ["rg --type=all KEY", "ask"],
  ["rg --type ts KEY packages", "allow"],
  ["rg -tpy KEY", "allow"],
  ["rg -t sh KEY src", "allow"],
  ["rg -T sh KEY packages", "allow"],
  ["rg KEY src > o", "ask"],
  ["rg KEY src 2>/dev/null | head -5", "allow"],
])("types of files bring hidden ones back: %s: %s", async (line, expected) => {
  expect(await verdict(line)).toBe(expected)
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
])("behind a pipe rg reads what it is given: %s: %s", async (line, expected) => {
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
])("scripts that came from others are asked about: %s: %s", async (line, expected) => {
  write(".git/HEAD", "")
  write("clone/.git/HEAD", "")
  write("clone/inner/package.json", "{}")
  write("node_modules/evil/package.json", "{}")
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
])("other programs that read more than their words seem to say: %s: %s", async (line, expected) => {
  expect(await verdict(line, ["od", "make", "diff"])).toBe(expected)
})
