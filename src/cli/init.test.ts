import { chmodSync, readdirSync } from "node:fs"
import { expect, test } from "vitest"
import { temporaryFolder } from "../testing/test-app.ts"
import { asUnprivileged } from "../testing/unprivileged.ts"
import { runWithApp } from "./testing.ts"

test("init in a folder that may not be written to is refused with a sentence", async () => {
  const cwd = temporaryFolder()
  const nobody = () => chmodSync(cwd, 0o555)
  nobody()
  // Imports what the command needs while it can still be read.
  await runWithApp({}, ["init"])
  const { code, stderr } = await asUnprivileged(nobody, () => runWithApp({}, ["init"], { cwd }))
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^You may not write .* \(EACCES\)\. Run 'qm init' in .*\n$/),
  ])
  expect(readdirSync(cwd)).toEqual([])
})
