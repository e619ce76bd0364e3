import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { CommandGuard } from "./command-guard.ts"
import { guardWith, verdictOf } from "./testing.ts"

let folder: string
let guard: CommandGuard
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "quartermaster-groups-")))
  for (const name of ["src", "linked"]) mkdirSync(join(folder, name))
  symlinkSync("/etc/passwd", join(folder, "linked/p.ts"))
  guard = await guardWith({ workspace: folder })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each([
  ["ls | { cd linked; cat p.ts; }", "a group at the end of a pipe changes its folder for itself"],
  ["{ ls; } | cat; cd linked; cat p.ts", "after a group, what is joined to what is not shifted"],
  ["(ls); cd linked && cat p.ts", "after a group, what is joined to what is not shifted"],
  ["if cd linked; then cat p.ts; fi", "a condition changes the folder for what follows"],
  ["if ls; then cd linked; fi; cat p.ts", "a branch changes the folder for what follows"],
  ["{ cd linked; } && cat p.ts", "a group changes the folder for what follows"],
  ["cd src && { cd ../linked && cat p.ts; }", "a group begins where the line is"],
  ["{ cd linked && ls; } < linked/p.ts", "what a group is given is opened before it begins"],
  ["cd linked && { ls; } < p.ts", "what a group is given is opened where the line is"],
])("%s is denied, because of a link: %s", (line) => {
  expect(verdictOf(guard, line).verdict).toBe("deny")
})
