import { mkdirSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../testing/test-app.ts"
import { runWithApp } from "./testing.ts"
import { asTyped, typedCommand } from "./common/typed-command.ts"

/** The help of every command by its words, found through the help of the one above. */
async function allHelp(words: readonly string[] = []): Promise<[command: string, help: string][]> {
  const { stdout } = await runWithApp({}, [...words, "--help"])
  const [list = ""] = stdout.split(/^Examples?:$/m)
  const names = [...list.matchAll(/^ {2}([a-z]+)/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => name !== "help" && name !== "qm")
  const inner = await Promise.all(names.map((name) => allHelp([...words, name])))
  return [[words.join(" "), stdout], ...inner.flat()]
}

test("the help lists the commands by what a person wants to do", async () => {
  const { stdout } = await runWithApp({}, ["help"])
  const headings = [...stdout.matchAll(/^[A-Z].*:$/gm)].map(([heading]) => heading)
  expect(headings.slice(1, 7)).toEqual([
    "Try it:",
    "Answer what waits:",
    "Govern:",
    "Connect:",
    "Look back:",
    "Set up:",
  ])
  expect(stdout).toMatch(/\nAnswer what waits:\n {2}approvals /)
  expect((await runWithApp({}, ["roles", "--help"])).stdout).toContain("\nCommands:\n")
})

test("the help of every command has an example of it, with options that it has", async () => {
  for (const [command, help] of await allHelp()) {
    const [, lines = ""] = /\nExamples?:\n((?: {2}qm .*\n?)+)/.exec(help) ?? []
    expect(lines, `Write an .example(…) where '${command}' is defined.`).toContain(`qm ${command}`.trimEnd())
    // A command above others shows examples of those.
    const [list = ""] = help.split(/^Examples?:$/m)
    if (/^Commands:$|^Try it:$/m.test(list)) continue
    const options = lines.replaceAll(/'[^']*'/g, "").match(/--[a-z]+(?:-[a-z]+)*/g) ?? []
    for (const option of options) expect(list, command).toMatch(new RegExp(`${option}[ ,\n]`))
    const required = [...list.matchAll(/(--[a-z-]+) [^\n]*(?:\n {10,}[^\n]*)*\(required\)/g)].map(
      ([, option = ""]) => option,
    )
    for (const line of lines.split("\n").filter((text) => text !== ""))
      for (const option of required) expect(line, `An example of '${command}'`).toContain(option)
  }
})

test.each([
  [["roles", "create", "--nmae", "x"], "'qm roles create --help'"],
  [["roles", "create"], "'qm roles create --help'"],
  [["audit", "list", "--since", "yesterday"], "'qm audit list --help'"],
  [["mode", "free"], "'qm mode --help'"],
  [["--nope"], "'qm --help'"],
])("wrong usage (%j) leads to the help of the command", async (words, where) => {
  const { code, stderr } = await runWithApp({}, words)
  expect([code, stderr]).toEqual([2, expect.stringContaining(`${where} shows how to use it.`)])
})

const program = { node: "node", script: "/opt/qm.js" }

test("commands are written as they can be typed: qm on the PATH, npx in a project or a clone, else the file", () => {
  const root = temporaryFolder()
  const folder = (name: string) => (mkdirSync(join(root, name), { recursive: true }), join(root, name))
  const put = (name: string, text = "") => writeFileSync(join(root, name), text)
  const bin = folder("bin")
  const project = folder("project/src")
  const packages = folder("project/node_modules/.bin")
  const clone = folder("clone")
  put("bin/qm")
  put("project/node_modules/.bin/qm")
  put("clone/package.json", JSON.stringify({ name: "quartermaster" }))
  const typed = (cwd: string, ...path: string[]) => typedCommand({ cwd, env: { PATH: path.join(delimiter) }, program })
  expect(typed(project, "/usr/bin", bin)).toBe("qm")
  expect(typed(project, packages, "/nowhere")).toBe("npx qm")
  expect(typed(clone)).toBe("npx qm")
  expect(typed(root)).toBe("node /opt/qm.js")
})

test("only commands are rewritten", () => {
  const text = "Run 'qm trust', then:\n  qm tools list\nThe file qm.js and (qm serve). A farqm trust."
  expect(asTyped({ typed: "npx qm" }, text)).toBe(
    "Run 'npx qm trust', then:\n  npx qm tools list\nThe file qm.js and (npx qm serve). A farqm trust.",
  )
  const typedOptions = ["-C", "my demo", "--data", "d"]
  expect(asTyped({ typed: "qm", typedOptions }, "Go on with: qm chat --resume a, or qm -C there approvals")).toBe(
    "Go on with: qm -C 'my demo' --data d chat --resume a, or qm -C there approvals",
  )
})
