import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { CommandGuard } from "./guard.ts"
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
  ["git -C src log -p", "allow"],
  ["git -C plain log -p", "ask"],
  ["git -C shared show", "ask"],
  ["cd shared && git log -p", "ask"],
  ["git -C whole show", "ask"],
])("%s: %s", (line, verdict) => {
  expect(verdictOf(guard, line).verdict).toBe(verdict)
})
