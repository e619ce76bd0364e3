import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { installInto } from "../config/install.ts"
import { temporaryFolder } from "../testing/open.ts"
import { runOver } from "./testing.ts"

/** `qm install` over the real files of a folder; nobody sits there. */
function desk() {
  const cwd = temporaryFolder()
  const org = { findAgent: (id: string) => (id === "operator" ? ({ id, status: "active" } as never) : undefined) }
  const run = (line: string) =>
    runOver({ org }, line.split(" "), {
      house: {
        installInto: (client, { name, agent }) =>
          Promise.resolve(installInto(client, name, { command: "/bin/qm", folder: cwd, agent }, { cwd })),
      },
    })
  return { cwd, run, file: join(cwd, ".mcp.json") }
}

test("without --yes where nobody can be asked, the change is shown and not made", async () => {
  const { run, file } = desk()
  const { code, stdout, stderr } = await run("install claude")
  expect([code, existsSync(file)]).toEqual([2, false])
  expect(stdout).toContain(`${file}\n  + {\n`)
  expect(stderr).toContain("say so with --yes.")
})

test("with --yes it is made, what was there is kept, and a second time changes nothing", async () => {
  const { run, file } = desk()
  writeFileSync(file, "{} // mine\n")
  const { code, stderr } = await run("install claude --yes")
  expect(code).toBe(0)
  expect(stderr).toContain(`Wrote ${file}.\nWhat was there before is kept in ${file}.bak.\n`)
  expect(readFileSync(file, "utf8")).toMatch(/"quartermaster": \{(.|\n)*\} \/\/ mine\n$/)
  expect(readFileSync(`${file}.bak`, "utf8")).toBe("{} // mine\n")
  expect(JSON.parse((await run("install claude --json")).stdout)).toMatchObject({ written: false, backup: null })
})

test("an agent that is not there is refused before anything is looked at", async () => {
  const { run, file } = desk()
  expect(await run("install claude --agent nobody --yes")).toMatchObject({ code: 1, stdout: "" })
  expect(existsSync(file)).toBe(false)
})
