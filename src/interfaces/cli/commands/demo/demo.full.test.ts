import type { ChildProcess } from "node:child_process"
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../../../testing/test-app.ts"
import { scenes } from "./demo-scenes.ts"
import { dist, makeCli, outputOf, waitForOutput, type CliOutput } from "../../testing.ts"

const names = scenes.map(({ name }) => name)

interface Printed {
  complete: boolean
  scenes: { scene: string; happened: boolean; what?: string; calls?: string[] }[]
  answer: string
  folder?: string
}

/** A command line whose temporary folders can be looked at. */
function demoCli() {
  const temporary = temporaryFolder()
  return { ...makeCli({ TMPDIR: temporary, NO_COLOR: "1" }), temporary, left: () => readdirSync(temporary) }
}

test("the demo shows every scene and leaves nothing behind", async () => {
  const cli = demoCli()
  const { code, stdout, stderr } = await cli.run("demo")
  expect([code, stderr]).toEqual([0, ""])
  const shown = [...stdout.matchAll(/^[●⊘] (\w+) +\S/gm)].map(([, name]) => name)
  expect(shown).toEqual(names)
  const text = stdout.replaceAll(/\s+/g, " ")
  expect(text).toContain('Ann (played) corrects it to "¡Hola, ${name}!" and approves.')
  expect(text).toContain("A rule denies it: Customer data stays as it is.")
  expect(stdout).not.toContain("\u001b[")
  expect([cli.left(), readdirSync(cli.cwd), readdirSync(cli.home)]).toEqual([[], [], []])
})

test("agents watch shows the demo's agents by its file; Ctrl-C ends both, and nothing is left", async () => {
  const cli = demoCli()
  let watched: Promise<CliOutput> | undefined
  const watchAndStop = async (terminal: ChildProcess) => {
    const file = join(cli.temporary, cli.left()[0]!, "quartermaster.yml")
    const watch = cli.start("--config", file, "agents", "watch")
    watched = outputOf(watch, "")
    await waitForOutput(watch, "(developer)")
    terminal.stdin?.write("\u0003")
  }
  const { code, stdout } = await cli.inTerminal(["demo"], [["● hire", watchAndStop]])
  expect(stdout).toContain(`agents watch\r\n`)
  expect(stdout).toMatch(/Stopping\.\r\nThe demo was stopped before its end\. Nothing of it is left\.\r\n$/)
  expect(code).toBe(6)
  expect(await watched).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /\nThe data folder was removed, so there is nothing to watch any more\.\n$/,
    ) as string,
  })
  expect([cli.left(), readdirSync(cli.cwd)]).toEqual([[], []])
})

test("--json prints the scenes as data, and with --keep their calls are in the audit log of the folder", async () => {
  const cli = demoCli()
  const { code, stdout, stderr } = await cli.run("demo", "--json", "--keep")
  const { complete, scenes: shown, answer, folder = "" } = JSON.parse(stdout) as Printed
  expect({ code, complete, answer }).toEqual({
    code: 0,
    complete: true,
    answer: "Lantern greets in Spanish now. The tester has checked it.",
  })
  expect(shown.map(({ scene, happened }) => [scene, happened])).toEqual(names.map((name) => [name, true]))
  expect(stderr).toMatch(/^Its folder is kept\. Look at it with: .*qm -C \S+ audit list$/m)
  const listed = await cli.run("-C", folder, "audit", "list", "--json")
  const logged = (JSON.parse(listed.stdout) as { callId: string }[]).map(({ callId }) => callId)
  expect(listed.stderr).toBe("")
  expect(logged).toEqual(expect.arrayContaining(shown.flatMap(({ calls = [] }) => calls)))
  expect(readFileSync(join(folder, "workspace/src/greet.js"), "utf8")).toContain("`¡Hola, ${name}!`")
})

/** The built command line with its own copy of the sample, in which one text is another. */
function changeSample(root: string, file: string, from: string, to: string): void {
  const repository = fileURLToPath(new URL("../../../../..", import.meta.url))
  cpSync(dist, join(root, "dist"), { recursive: true })
  cpSync(join(repository, "package.json"), join(root, "package.json"))
  mkdirSync(join(root, "examples"))
  cpSync(join(repository, "examples/sample"), join(root, "examples/sample"), { recursive: true })
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"))
  const changed = join(root, "examples/sample", file)
  const text = readFileSync(changed, "utf8")
  expect(text).toContain(from)
  writeFileSync(changed, text.replace(from, to))
}

test.each([
  ["no rule denies", "quartermaster.yml", "write:data/**", "write:nothing/**", ["denial", "a rule denies a call"]],
  [
    "nothing needs a correction",
    "models/guide.yml",
    "`Holla,",
    "`¡Hola,",
    ["edit", "a person changes a call before approving it"],
  ],
])("a story in which %s ends with 1 and says what did not happen", async (_, file, from, to, [scene, expects]) => {
  const cli = demoCli()
  changeSample(cli.cwd, file, from, to)
  const { code, stdout, stderr } = await outputOf(cli.script("dist/qm.js", "demo"), "")
  expect(code).toBe(1)
  expect(stdout).toContain(`✗ ${scene!.padEnd(10)}This did not happen: ${expects}.`)
  expect([...stdout.matchAll(/^[●⊘] (\w+)/gm)].map(([, name]) => name)).toEqual(names.filter((one) => one !== scene))
  expect(stderr).toContain(`This part did not happen: ${expects}.\n`)
  expect(cli.left()).toEqual([])
})

test("the demo takes no configuration of others", async () => {
  const { run } = demoCli()
  const { code, stderr } = await run("demo", "--data", "mine")
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^The demo has a configuration and data of its own\./)])
})
