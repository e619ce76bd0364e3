import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { findBubblewrap } from "../../testing/shell.ts"
import { fence, openHere, realFolder } from "./testing.ts"

const inSandbox = test.skipIf("why" in findBubblewrap())

test("in a tree too large to be seen, what the command names is seen, and nothing old is taken", async () => {
  const { processes, workspace } = openHere()
  for (let count = 0; count < 40; count++) {
    mkdirSync(join(workspace, `many/${count}/deep/down`), { recursive: true })
    for (let file = 0; file < 300; file++) writeFileSync(join(workspace, `many/${count}/${file}`), "")
    writeFileSync(join(workspace, `many/${count}/deep/down/.envrc`), "mine")
  }
  const command = "rm -r many/1?; git init -q many/5/deep/new; echo x > many/0/deep/down/.npmrc"
  expect((await processes.run({ command }, {})).sealed?.toSorted()).toEqual([
    "many/0/deep/down/.npmrc",
    "many/5/deep/new/.git",
  ])
  expect(existsSync(join(workspace, "many/39/deep/down/.envrc"))).toBe(true)
})

inSandbox("where the tree is too large, the folder a pattern begins in is held", async () => {
  const workspace = realFolder()
  for (let count = 0; count < 60; count++) {
    mkdirSync(join(workspace, `many/${count}/deep`), { recursive: true })
    for (let file = 0; file < 200; file++) writeFileSync(join(workspace, `many/${count}/${file}`), "")
  }
  writeFileSync(join(workspace, "many/59/deep/a.sql"), "mine")
  const { processes } = openHere({ sandbox: "required", files: fence(workspace), protectedPaths: ["many/59/*/*.sql"] })
  const command = "cd many; cd 59; cd deep; echo bad > a.sql"
  expect((await processes.run({ command }, {})).exitCode).not.toBe(0)
  expect(readFileSync(join(workspace, "many/59/deep/a.sql"), "utf8")).toBe("mine")
})
