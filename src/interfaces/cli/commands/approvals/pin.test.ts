import { expect, test } from "vitest"
import { openTestApp } from "../../../../testing/test-app.ts"
import { runWithApp } from "../../testing.ts"

async function setUp() {
  const app = await openTestApp({ org: { people: [{ id: "li" }] } })
  const staysOpen = { ...app, close: () => Promise.resolve() }
  const run = (line: string, options: { stdin?: string; env?: Record<string, string> } = {}) =>
    runWithApp({}, line.split(" "), { ...options, runtime: { openApp: () => Promise.resolve(staysOpen) } })
  return { app, run }
}

test("a PIN is set from stdin for oneself or --as, shown nowhere, and cleared", async () => {
  const { app, run } = await setUp()
  const set = await run("pin set --stdin --as li", { stdin: "739164\n" })
  expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining("The PIN of li is set.") })
  expect(set.stdout + set.stderr).not.toContain("739164")
  expect([app.pins.isSet("li"), app.pins.isSet("ada")]).toEqual([true, false])
  expect(await app.pins.check("li", "739164")).toEqual({ ok: true })
  expect(await run("pin clear --as li --json")).toMatchObject({ code: 0, stdout: '{"person":"li","pin":false}\n' })
  expect(app.pins.isSet("li")).toBe(false)
  expect((await run("pin clear")).stdout).toBe("ada has no PIN.\n")
})

test.each([
  ["too short", "pin set --stdin", { stdin: "1234" }, 2, "A PIN has at least 6 digits"],
  ["without a terminal", "pin set", {}, 2, "There is no terminal to ask for the PIN."],
  ["inside a tool", "pin set --stdin", { stdin: "739164", env: { QM_INSIDE: "1" } }, 3, "'qm pin set' is for people"],
  ["cleared inside a tool", "pin clear", { env: { QM_INSIDE: "1" } }, 3, "'qm pin clear' is for people"],
  ["a link inside a tool", "approvals link x", { env: { QM_INSIDE: "1" } }, 3, "'qm approvals link' is for people"],
  ["a link without a server", "approvals link x", {}, 1, "No server runs here."],
])("%s is refused with a sentence", async (_what, line, options, code, sentence) => {
  const { app, run } = await setUp()
  expect(await run(line, options)).toMatchObject({ code, stderr: expect.stringContaining(sentence) })
  expect(app.pins.isSet("ada")).toBe(false)
})
