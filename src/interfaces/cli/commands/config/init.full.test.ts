import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { findBubblewrap } from "../../../../testing/shell-app.ts"
import { makeCli } from "../../testing.ts"

test.runIf("path" in findBubblewrap()).each([
  ["sandbox", "sandbox"],
  ["", undefined],
  ["yes", undefined],
])("init asks the person at the terminal for the shell mode, and takes %j as %s", async (typed, mode) => {
  const { inTerminal, cwd } = makeCli()
  const { code, stdout } = await inTerminal(["init"], [["Shell mode [ask]", `${typed}\r`]])
  expect(code).toBe(0)
  expect(stdout).toContain("sandbox  bubblewrap holds them")
  const written = readFileSync(join(cwd, "quartermaster.yml"), "utf8")
  expect(/^ {4}mode: (\w+)/m.exec(written)?.[1]).toBe(mode)
})
