import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openFiles } from "../files/files.ts"
import { commandEnvironment } from "./environment.ts"
import { openTestProcesses, realTemporaryFolder } from "./testing.ts"

test("only an unapproved command gets harmless git settings, after those of the call", () => {
  const given = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "user.name", GIT_CONFIG_VALUE_0: "Ann" }
  expect(commandEnvironment({}, given, { unapproved: true })).toMatchObject({
    GIT_CONFIG_COUNT: "3",
    GIT_CONFIG_KEY_0: "user.name",
    GIT_CONFIG_KEY_1: "core.fsmonitor",
    GIT_CONFIG_VALUE_1: "false",
    GIT_CONFIG_KEY_2: "core.hooksPath",
    GIT_CONFIG_VALUE_2: "/dev/null",
    GIT_NO_LAZY_FETCH: "1",
  })
  for (const count of ["-1", "x", "99999", ""])
    expect(commandEnvironment({}, { GIT_CONFIG_COUNT: count }, { unapproved: true })["GIT_CONFIG_COUNT"]).toBe("2")
  expect(Object.keys(commandEnvironment({}, {})).filter((name) => name.startsWith("GIT_"))).toEqual([])
})

/** Settings of a foreign repository that make git run a program, and the command that triggers it. */
const settings: [setting: string, command: string][] = [
  ["core.fsmonitor", "git status"],
  ["core.hooksPath", "git -c user.name=a -c user.email=a@b.example commit -q --allow-empty -m x"],
]

test.each(settings)("a repository whose %s names a program runs it only in an approved command", async (setting, command) => {
  for (const unasked of [false, true]) {
    const workspace = realTemporaryFolder()
    const program = join(workspace, setting === "core.fsmonitor" ? "program" : "pre-commit")
    execFileSync("git", ["init", "-q", workspace])
    writeFileSync(program, `#!/bin/sh\ntouch ${workspace}/RAN\n`)
    chmodSync(program, 0o755)
    const value = setting === "core.fsmonitor" ? program : workspace
    execFileSync("git", ["-C", workspace, "config", setting, value])
    const dataFolder = join(workspace, ".quartermaster")
      mkdirSync(dataFolder)
      const files = openFiles({ workspace, dataFolder })
    const { processes } = openTestProcesses({ sandbox: "off", files })
    await processes.run({ command, unapproved: unasked }, {})
    expect({ unasked, ran: existsSync(join(workspace, "RAN")) }).toEqual({ unasked, ran: !unasked })
  }
}) // prettier-ignore
