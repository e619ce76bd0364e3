import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../../../testing/test-app.ts"
import { makeCli } from "../../testing.ts"

test("the tour works as it is printed, from an empty folder to the end", async () => {
  const { run } = makeCli()
  const { code, stdout } = await run("start")
  expect(code).toBe(0)
  const tour = [...stdout.matchAll(/^ {2}qm (\S.*?) {2,}\S/gm)].map(([, command = ""]) => command)
  expect(tour.length).toBeGreaterThan(10)
  for (const command of tour) {
    const asks = command.startsWith("call set_env")
    const ended = await run(...command.split(" "), ...(asks ? ["--wait", "0"] : []))
    expect({ command, code: ended.code }, ended.stderr).toEqual({ command, code: asks ? 4 : 0 })
    expect(ended.stdout === "", command).toBe(asks)
    if (command.startsWith("why")) expect(ended.stdout).toMatch(/^Agent kit may call set_env after a person/)
    if (command === "approvals list") expect(ended.stdout).toMatch(/ call +kit +set_env /)
  }
})

test("in a clone the tour is printed with npx, and such a command works there", () => {
  const cwd = fileURLToPath(new URL("../../../../..", import.meta.url))
  const home = temporaryFolder()
  // A folder with what npx needs and nothing else: `npm link` may have put a qm on the PATH of this machine.
  const bin = join(home, "bin")
  mkdirSync(bin)
  for (const name of ["node", "npm", "npx", "sh"])
    symlinkSync(execFileSync("/bin/sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim(), join(bin, name))
  const env = { PATH: bin, HOME: home }
  const run = (program: string, ...words: string[]) => execFileSync(program, words, { cwd, env, encoding: "utf8" })
  const data = ["--data", `${home}/data`]
  const [, command = ""] =
    /^ {2}(npx qm --data \S+ call \S+ \S+)/m.exec(run(process.execPath, "dist/qm.js", "start", ...data)) ?? []
  const [program = "", ...words] = command.split(" ")
  expect(run(program, ...words)).toContain("encoded")
})
