import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../../../testing/test-app.ts"
import { asUnprivileged } from "../../../../testing/unprivileged.ts"
import { runWithApp } from "../../testing.ts"

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

test.each([
  ["{}", /^There is no MCP server and no permission in .*mcp\.json\. Run 'qm init' without --from/],
  ['{"permissions":{"allow":["Task"]}}', /^There is nothing that can be imported in .* 'allow Task' .* Run 'qm init'/],
])("init --from with nothing to import in %j writes nothing and says what to run", async (text, sentence) => {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, ".mcp.json"), text)
  const { code, stderr } = await runWithApp({}, ["init", "--from", "claude"], { cwd })
  expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)])
  expect(readdirSync(cwd)).toEqual([".mcp.json"])
})

test("init without a terminal writes shell mode ask, and sandbox only where --shell-mode says so", async () => {
  const modeOf = async (...words: string[]) => {
    const cwd = temporaryFolder()
    const { code, stdout } = await runWithApp({}, ["init", "--json", ...words], { cwd })
    const written = readFileSync(join(cwd, "quartermaster.yml"), "utf8")
    return [code, (JSON.parse(stdout) as { shellMode: string }).shellMode, /^ {4}mode: (\w+)/m.exec(written)?.[1]]
  }
  expect(await modeOf()).toEqual([0, "ask", undefined])
  expect(await modeOf("--shell-mode", "ask")).toEqual([0, "ask", undefined])
  expect(await modeOf("--shell-mode", "sandbox")).toEqual([0, "sandbox", "sandbox"])
})

test.each([
  [["--shell-mode", "denylist"], "--shell-mode takes one of ask, sandbox, and 'denylist' is none of them."],
  [["--from", "claude", "--shell-mode", "sandbox"], "--shell-mode is for a first configuration."],
])("init %j writes nothing and says why", async (words, sentence) => {
  const cwd = temporaryFolder()
  const { code, stderr } = await runWithApp({}, ["init", ...words], { cwd })
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
  expect(readdirSync(cwd)).toEqual([])
})
