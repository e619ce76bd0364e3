import { join } from "node:path"
import { expect, test } from "vitest"
import type { PluginEntry, PluginState } from "../../../../registry/plugins/plugin.ts"
import { temporaryFolder } from "../../../../testing/test-app.ts"
import { runWithApp } from "../../testing.ts"

const digest = { sha256: "ab".repeat(32), covers: "file", files: 1 } as const
const clock: PluginState = { name: "clock", kind: "module", version: "1.0.0", path: "/p/clock.mjs", given: "/p/clock.mjs", layer: "system", state: "loaded", group: "clock", tools: ["system:now@1.0.0"], digest, loadedAt: 0 } // prettier-ignore
const torn: PluginState = { name: "/p/torn.mjs", given: "/p/torn.mjs", layer: "system", state: "failed", tools: [], problem: "It is torn." } // prettier-ignore
const off: PluginState = { name: "quiet", given: "/p/quiet.mjs", layer: "agent:dev", state: "off", tools: [], problem: "ann switched it off." } // prettier-ignore

function cliWithPlugins(list: readonly PluginState[]) {
  const received: unknown[] = []
  const plugins = {
    list: () => list,
    load: (entry: PluginEntry) => {
      received.push(["load", entry])
      return entry.path.includes("bad")
        ? Promise.reject(new Error("It is bad."))
        : Promise.resolve({ ...clock, name: "new" })
    },
    switchOff: (name: string, by: string) => {
      received.push(["off", name, by])
      return Promise.resolve(name === "clock" ? { ...clock, state: "off" as const } : undefined)
    },
    switchOn: (name: string, by: string) => {
      received.push(["on", name, by])
      return Promise.resolve(name === "quiet" ? { ...off, state: "loaded" as const, tools: ["a", "b"] } : undefined)
    },
  }
  const cwd = temporaryFolder()
  return { received, cwd, run: (...words: string[]) => runWithApp({ plugins }, words, { cwd }) }
}

test("plugins are listed with their state, hash, tools and what is wrong", async () => {
  const { run } = cliWithPlugins([clock, torn, off])
  const { stdout, code } = await run("plugins")
  expect(code).toBe(0)
  expect(stdout).toMatch(/^NAME +STATE +KIND +VERSION +LAYER +TOOLS +SHA-256 +PATH +PROBLEM\n/)
  expect(stdout).toMatch(/clock +loaded +module +1\.0\.0 +system +1 +abababababab +\/p\/clock\.mjs +-/)
  expect(stdout).toMatch(/torn\.mjs +failed .* It is torn\.\n/)
  expect(stdout).toMatch(/quiet +off .* ann switched it off\.\n/)
  expect(JSON.parse((await run("plugins", "list", "--json")).stdout)).toHaveLength(3)
  expect((await cliWithPlugins([]).run("plugins")).stderr).toMatch(
    /^There is no plugin yet\. .*'qm plugins load <path>'/,
  )
})

test("a plugin is shown with its full hash and what that covers", async () => {
  const { run } = cliWithPlugins([clock, torn])
  const { stdout, code } = await run("plugins", "show", "clock")
  expect([code, stdout]).toEqual([0, expect.stringContaining(`sha-256: ${digest.sha256} (the file alone)`) as string])
  expect(await run("plugins", "show", "/p/torn.mjs")).toMatchObject({ code: 1 })
  expect(await run("plugins", "show", "clok")).toMatchObject({ code: 1, stderr: "There is no plugin 'clok'. Did you mean 'clock'?\n" }) // prettier-ignore
})

test("a path is loaded for one command, and the message says how to configure it", async () => {
  const { run, received, cwd } = cliWithPlugins([clock])
  const tried = await run("plugins", "load", "./x.mjs", "--layer", "agent:dev")
  expect(tried.code).toBe(0)
  expect(tried.stderr).toContain(`plugins: [{ path: "${cwd}/x.mjs", layer: "agent:dev" }]`)
  expect(received).toEqual([
    ["on", "./x.mjs", "ada"],
    ["load", { path: join(cwd, "x.mjs"), layer: "agent:dev" }],
  ])
  expect(await run("plugins", "load", "bad.mjs")).toEqual({ code: 1, stdout: "", stderr: "It is bad.\n" })
  expect(await run("plugins", "load", "clock")).toMatchObject({ code: 1, stderr: "The plugin 'clock' is already loaded.\n" }) // prettier-ignore
  expect(await run("plugins", "load", clock.path!)).toMatchObject({ code: 1, stderr: "The plugin 'clock' is already loaded.\n" }) // prettier-ignore
  expect(await run("plugins", "load", "x.mjs", "--layer", "me")).toMatchObject({ code: 2 })
})

test("a plugin is unloaded and loaded by name", async () => {
  const { run, received } = cliWithPlugins([clock, off])
  expect((await run("plugins", "unload", "clock")).stdout).toMatch(/^clock is unloaded in every process/)
  expect((await run("--as", "eve", "plugins", "load", "quiet")).stdout).toBe("quiet is loaded again: 2 tools.\n")
  expect(await run("plugins", "unload", "nothing")).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no plugin 'nothing'.") as string }) // prettier-ignore
  expect(received).toEqual([
    ["off", "clock", "ada"],
    ["on", "quiet", "eve"],
    ["off", "nothing", "ada"],
  ])
})

test.each([
  ["plugins", "load", "x.mjs"],
  ["plugins", "unload", "clock"],
  ["experiments", "start", "x", "--tool", "t", "--versions", "1,2"],
  ["experiments", "stop", "x"],
])("inside a tool 'qm %s %s' is refused", async (...words) => {
  const { code, stderr } = await runWithApp({}, words, { env: { QM_INSIDE: "1" } })
  expect([code, stderr]).toEqual([3, expect.stringContaining("is for people") as string])
})
