import { execFileSync } from "node:child_process"
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { CommandGuard } from "./command-guard.ts"
import { guardWith, verdictOf, type Verdict } from "./testing.ts"

const above = mkdtempSync(join(realpathSync(tmpdir()), "qm-test-"))
const workspace = join(above, "ws")
let asking: CommandGuard
let denylist: CommandGuard
beforeAll(async () => {
  for (const folder of ["src", "secrets", "lib", ".git/hooks"]) mkdirSync(join(workspace, folder), { recursive: true })
  for (const file of ["src/a.ts", "secrets/s", "lib/package.json", "../outside"])
    writeFileSync(join(workspace, file), "x\n")
  const links = {
    "to-s": "secrets/s",
    chain: "to-s",
    "src/up": "../secrets",
    fresh: "secrets/new",
    hooks: ".git/hooks",
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(workspace, name))
  linkSync(join(above, "outside"), join(workspace, "second"))
  execFileSync("mkfifo", [join(workspace, "pipe")])
  asking = await guardWith({ workspace, allow: ["cat", "ls", "head", "echo", "pwd", "wc", "mytool"] })
  denylist = await guardWith({ workspace, mode: "denylist", allow: ["mytool"] })
})

afterAll(() => rmSync(above, { recursive: true }))

describe("a rule about files holds for every link that a command names", () => {
  test.each<[string, Verdict, string?]>([
    ["cat to-s", "deny"],
    ["cat chain", "deny"],
    ["cat src/../chain", "deny"],
    ["cat src/up/s", "deny"],
    ["ls src/up", "deny"],
    ["head -c 3 < to-s", "deny"],
    ["wc -l src/a.ts chain", "deny"],
    ["mytool chain", "deny"],
    ["echo x > fresh", "deny"],
    ["echo x > src/up/new", "deny"],
    ["pwd", "deny", "src/up"],
    ["mytool x", "deny", "src/up"],
    ["pwd", "allow", "src"],
    ["cat src/a.ts", "allow"],
  ])("%s: %s", (line, verdict, cwd) => {
    expect(verdictOf(asking, line, cwd === undefined ? {} : { cwd }).verdict).toBe(verdict)
  })
})

test("a redirect opens only regular files with one name", () => {
  for (const line of ["echo x > second", "echo x >> second", "echo x > pipe", "echo $(ls) > second"])
    expect([line, verdictOf(asking, line).verdict]).toEqual([line, "deny"])
  expect(verdictOf(asking, "cat second").verdict).toBe("allow")
})

describe("in the mode denylist an unlisted program counts as writing its arguments", () => {
  test.each<[string, Verdict]>([
    ["foo src/a.ts", "allow"],
    ["foo ./src", "allow"],
    ["foo .", "allow"],
    ["foo ./lib", "allow"],
    ["foo build head", "allow"],
    ["foo -o package.json", "ask"],
    ["foo Makefile", "ask"],
    ["foo -o id_rsa", "ask"],
    ["foo quartermaster.yml", "ask"],
    ["foo --out=.claude/settings.json", "ask"],
    ["foo -o.git/config", "ask"],
    ["foo of=.bashrc", "ask"],
    ["foo .git/hooks", "ask"],
    ["foo hooks/x", "ask"],
    ["foo ../outside", "ask"],
    ["install src/a.ts .git/hooks/pre-commit", "ask"],
    ["cp src/a.ts .git/hooks/pre-commit", "deny"],
    ["foo --output secrets/x", "deny"],
    ["mytool package.json", "allow"],
    ["mytool .bashrc", "ask"],
    ["mytool -o id_rsa", "ask"],
  ])("%s: %s", (line, verdict) => expect(verdictOf(denylist, line).verdict).toBe(verdict))

  test("so rules about writing apply too", () => {
    expect(verdictOf(denylist, "foo src/a.ts ./src").look.extraTouches).toEqual(
      expect.arrayContaining([
        { kind: "write", what: "src/a.ts" },
        { kind: "write", what: "src/*" },
      ]),
    )
    expect(verdictOf(denylist, "mytool src/a.ts").look.extraTouches).not.toContainEqual({
      kind: "write",
      what: "src/a.ts",
    })
    expect(verdictOf(asking, "foo src/a.ts").look.extraTouches).not.toContainEqual({ kind: "write", what: "src/a.ts" })
  })
})

test("patterns are not expanded over names that are invalid UTF-8 or that shells match differently", async () => {
  const odd = (text: string) => Buffer.concat([Buffer.from(join(workspace, "odd/")), Buffer.from(text, "latin1")])
  mkdirSync(join(workspace, "odd/below"), { recursive: true })
  writeFileSync(join(workspace, "odd/a.md"), "x")
  const guard = await guardWith({ workspace })
  const verdicts = (lines: readonly string[]) => lines.map((line) => [line, verdictOf(guard, line).verdict])
  const lines = ["cat odd/*.md", "grep -r x odd", "cat odd/?.md"]
  expect(verdicts(lines)).toEqual(lines.map((line) => [line, "allow"]))
  symlinkSync("/etc/hostname", odd("below/\xff.md"))
  expect(verdictOf(guard, "cat odd/*.md").verdict).toBe("allow")
  for (const line of ["cat odd/below/*.md", "grep -r x odd"])
    expect([line, verdictOf(guard, line).verdict]).toEqual([line, "ask"])
  writeFileSync(join(workspace, "odd/é.md"), "x")
  expect(verdictOf(guard, "cat odd/?.md").verdict).toBe("ask")
})
