import { expect, test } from "vitest"
import { refuseBadConfig } from "./check-configuration.ts"
import { loadConfig } from "./load.ts"
import { makeFolders, problemsOf } from "./testing.ts"
import { trust } from "./trust.ts"

const written = (shell: string) => `tools:\n  shell:\n    ${shell.replaceAll("; ", "\n    ")}\n`

test("shell mode sandbox with the sandbox off is refused, also if two layers set them", () => {
  const { cwd, home, write } = makeFolders()
  const sentence = "'tools.shell.mode' is sandbox, and 'tools.shell.sandbox' is off, so commands would run without a sandbox. Set tools.shell.sandbox to auto or required, or the mode to ask." // prettier-ignore
  const file = write("quartermaster.yml", written("mode: sandbox; sandbox: off"))
  trust(file, home, {})
  expect(problemsOf(() => loadConfig({ cwd, home, env: {} }))).toEqual([{ file, key: "tools.shell.mode", sentence }])
  trust(write("quartermaster.yml", written("mode: sandbox")), home, {})
  const overrides = { "tools.shell.sandbox": "off" }
  expect(problemsOf(() => loadConfig({ cwd, home, env: {}, overrides }))).toMatchObject([{ sentence }])
  const shell = { mode: "sandbox", sandbox: "off" } as const
  expect(() => refuseBadConfig({ tools: { shell } })).toThrow(sentence)
  for (const sandbox of ["auto", "required"]) refuseBadConfig({ tools: { shell: { ...shell, sandbox } } })
  refuseBadConfig({ tools: { shell: { mode: "ask", sandbox: "off" } } })
})

test("a file that is not trusted cannot set the mode sandbox", () => {
  const { cwd, home, write } = makeFolders()
  const file = write("quartermaster.yml", written("mode: sandbox"))
  const { config, warnings } = loadConfig({ cwd, home, env: {} })
  expect(config.tools?.shell?.mode).toBeUndefined()
  expect(warnings.join()).toContain("tools.shell.mode")
  trust(file, home, {})
  expect(loadConfig({ cwd, home, env: {} }).config.tools?.shell?.mode).toBe("sandbox")
})
