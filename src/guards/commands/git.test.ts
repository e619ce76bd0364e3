import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { CommandGuard } from "./command-guard.ts"
import { guardWith, verdictOf, type Verdict } from "./testing.ts"

const workspace = mkdtempSync(join(realpathSync(tmpdir()), "qm-test-"))
let guard: CommandGuard
beforeAll(async () => {
  const files = ["f", "src/a.ts", "lib/a.ts", "api/.env", "api2/x", "plain/HEAD", "shared/HEAD", "shared/commondir"]
  for (const file of [...files, "whole/HEAD", "whole/objects/x", "whole/refs/x", "secrets/s"]) {
    mkdirSync(dirname(join(workspace, file)), { recursive: true })
    writeFileSync(join(workspace, file), "x\n")
  }
  guard = await guardWith({ workspace })
})

afterAll(() => rmSync(workspace, { recursive: true }))

test.each<[string, Verdict]>([
  ["git diff -U5 src/a.ts", "allow"],
  ["git diff -p -U /etc/passwd f", "ask"],
  ["git diff -p -X /etc/passwd f", "ask"],
  ["git diff -p -X secrets/s", "ask"],
  ["git diff -U5 secrets/s", "deny"],
  ["git diff src lib", "allow"],
  ["git diff main feature", "allow"],
  ["git diff api api2", "ask"],
  ["git diff HEAD api", "ask"],
  ["git diff src secrets", "deny"],
  ["git log -1 --format=%H%d", "allow"],
  ["git log -1 --format=%GG", "ask"],
  ["git log -1 --pretty=format:%H%GK", "ask"],
  ["git diff src/*.ts", "allow"],
  ["git diff HEAD -- src/none*.ts", "allow"],
  ["git diff HEAD -- *env", "ask"],
  ["git diff HEAD -- src/*.env", "ask"],
  ["git diff a*env", "ask"],
  ["git show HEAD -- se?rets?s", "ask"],
  ["git -C src log -p", "allow"],
  ["git -C plain log -p", "ask"],
  ["git -C shared show", "ask"],
  ["cd shared && git log -p", "ask"],
  ["git -C whole show", "ask"],
])("%s: %s", (line, verdict) => {
  expect(verdictOf(guard, line).verdict).toBe(verdict)
})

test("git asks when the repository begins above the workspace, because it shows files outside", async () => {
  mkdirSync(join(workspace, "mono", "part"), { recursive: true })
  mkdirSync(join(workspace, "mono", ".git"))
  const part = await guardWith({ workspace: join(workspace, "mono", "part") })
  for (const line of ["git status", "git show HEAD:other/x", "git diff -- :/other"])
    expect([line, verdictOf(part, line).verdict]).toEqual([line, "ask"])
  const whole = await guardWith({ workspace: join(workspace, "mono") })
  expect(verdictOf(whole, "git status").verdict).toBe("allow")
})
