import { expect, test } from "vitest"
import type { OrganisationAdmin } from "../../../../org/organisation-admin.ts"
import type { Config } from "../../../../config/schema.ts"
import { runWithApp, type AppParts, type RunOptions } from "../../testing.ts"

const names = (source: string): Partial<OrganisationAdmin> => {
  const made = { createdBy: "", madeBy: "person", createdAt: "", status: "active", source } as const
  const role = (name: string, status: "active" | "deleted" = "active") =>
    ({ ...made, id: name, name, status, rolePrompt: "", llmServiceId: null, toolGroups: null }) as const
  return {
    listRoles: () => [role("developer"), role("old", "deleted"), { ...role("tester"), source: "store" }],
    listAgents: () => [{ ...made, id: "dev", roleId: "developer" }],
    listDepartments: () => [{ ...made, id: "eng", name: "eng" }],
    listPeople: () => [{ ...made, id: "ann", name: "Ann", roles: [] }],
  }
}
const app = (source: string, more: AppParts = {}): AppParts => ({
  org: names(source),
  audit: { stats: () => Promise.resolve({ total: 3 } as never) },
  rules: { flaws: () => [] },
  frozen: () => [],
  ...more,
})

interface Finding {
  state: string
  sentence: string
}

async function findings(parts: AppParts, options: RunOptions = {}): Promise<Finding[]> {
  const { stdout } = await runWithApp(parts, ["doctor", "--json"], options)
  return JSON.parse(stdout) as Finding[]
}

test("doctor shows who you are, what is frozen and which rules have flaws", async () => {
  const more: AppParts = {
    rules: { flaws: () => [{ kind: "dead", source: "rules[0]", sentence: "There is no tool 'x'." }] },
    frozen: () => [{ by: "eve", at: 0, because: "it loops" }],
  }
  const found = await findings(app("store", more))
  expect(found).toContainEqual({ state: "ok", sentence: "You are ada, proved by this test." })
  expect(found).toContainEqual({ state: "note", sentence: "Rule: rules[0] (dead): There is no tool 'x'." })
  expect(found).toContainEqual({
    state: "note",
    sentence: expect.stringMatching(
      /^Frozen: all agents, by eve at .*: it loops \('qm thaw' ends the freeze\)\.$/,
    ) as string,
  })
})

test("doctor tries to write in the data folder", async () => {
  // The superuser may write everywhere, except where the system itself says no.
  const cwd = process.getuid?.() === 0 ? "/sys" : "/"
  const { code, stdout } = await runWithApp(app("store"), ["doctor"], { cwd })
  expect([code, stdout]).toEqual([1, expect.stringMatching(/broken +\S+ cannot be written \(E\w+\).*--data <folder>/)])
})

test("doctor reports a configured agent whose parent does not exist", async () => {
  const org = names("configuration")
  const listAgents: OrganisationAdmin["listAgents"] = () =>
    (org.listAgents?.() ?? []).map((agent) => ({ ...agent, parentId: "nobody" }))
  expect(await findings(app("configuration", { org: { ...org, listAgents } }))).toContainEqual({
    state: "note",
    sentence: "Agent 'dev' may use no tool: its parent 'nobody' does not exist. Correct its parent in org.agents.",
  })
})

test("doctor starts every server and reports those that cannot be used", async () => {
  const states = [
    { name: "good", state: "connected", tools: 3 },
    { name: "gone", state: "waiting", tools: 0, problem: "The MCP server gone was not started." },
    { name: "off", state: "disabled", tools: 0 },
  ]
  let asked: unknown
  const ready = (_: unknown, options: unknown) => ((asked = options), Promise.resolve())
  const found = await findings({ ...app("store"), mcp: { ready, list: () => states as never } })
  const servers = found.filter(({ sentence }) => sentence.startsWith("MCP server"))
  expect(asked).toEqual({ all: true })
  expect(servers).toEqual([
    { state: "ok", sentence: "MCP server good starts and offers 3 tools." },
    { state: "broken", sentence: "MCP server gone cannot be used: The MCP server gone was not started." },
  ])
  expect(found.some(({ sentence }) => /not needed/.test(sentence))).toBe(false)
})

test("doctor names stored items that the configuration overrides, and nothing else", async () => {
  const config = { org: { roles: [] } }
  const open = (loaded: { config: { org?: unknown } }) =>
    Promise.resolve({
      close: () => Promise.resolve(),
      mcp: { list: () => [], ready: () => Promise.resolve() },
      plugins: { list: () => [] },
      ...app(loaded.config.org === undefined ? "store" : "configuration"),
    } as never)
  const covered = (await findings({}, { config, runtime: { openApp: open } })).filter(({ sentence }) =>
    sentence.includes("both have"),
  )
  expect(covered.map(({ sentence }) => / both have (.*?);/.exec(sentence)?.[1])).toEqual([
    "role developer",
    "agent dev",
    "department eng",
    "person ann",
  ])
  expect((await findings(app("store"))).some(({ sentence }) => sentence.includes("both have"))).toBe(false)
})

test.each([
  [
    "bubblewrap",
    () => ({ kind: "bubblewrap", network: false }),
    "ok",
    /run in the bubblewrap sandbox: .*no network unless/,
  ],
  [
    "none",
    () => ({ kind: "none", because: "it is off", network: true }),
    "missing",
    /because it is off\. They have your own rights, so each needs approval/,
  ],
  [
    "one that is required and absent",
    () => {
      throw new Error("There is none.")
    },
    "broken",
    /^There is none\.$/,
  ],
] as const)("doctor shows the sandbox of commands: %s", async (_what, sandbox, state, sentence) => {
  const found = await findings(app("store", { sandbox } as AppParts))
  expect(found).toContainEqual({ state, sentence: expect.stringMatching(sentence) as string })
})

test.each([
  ["works", () => ({ kind: "bubblewrap", network: false }), "ok", "Shell mode 'sandbox': commands run in bubblewrap unasked, except what visibly deletes or overwrites."],
  [
    "is not there",
    () => ({ kind: "none", because: "bubblewrap is not installed", network: true }),
    "missing",
    "Shell mode 'sandbox' acts as 'ask' here: bubblewrap is not installed.",
  ],
  [
    "is required and absent",
    () => {
      throw new Error("There is none.")
    },
    "missing",
    "Shell mode 'sandbox' acts as 'ask' here: There is none.",
  ],
] as const)("doctor explains shell mode sandbox where bubblewrap %s", async (_, sandbox, state, sentence) => {
  const config: Config = { tools: { shell: { mode: "sandbox" } } }
  const parts = app("store", { sandbox } as AppParts)
  expect(await findings(parts, { config })).toContainEqual({ state, sentence })
  const asking = (await findings(parts)).map((found) => found.sentence)
  expect(asking.filter((each) => each.includes("Shell mode"))).toEqual([])
  expect(asking.some((each) => each.includes("A person approves each one"))).toBe(state === "ok")
}) // prettier-ignore

test("inside a tool doctor does not identify a person and reports no problem", async () => {
  const identifyPerson = () => Promise.reject(new Error("It was asked for."))
  const found = await findings(app("store"), { env: { QM_INSIDE: "1" }, runtime: { identifyPerson } })
  expect(found.filter(({ state }) => state === "broken")).toEqual([])
  expect(found.some(({ sentence }) => sentence.includes("no person can answer"))).toBe(true)
})

test("doctor reports an unproved identity and still shows the rest", async () => {
  const identifyPerson = () => Promise.reject(new Error("The file that proves who you are is damaged."))
  const found = await findings(app("store"), { runtime: { identifyPerson } })
  expect(found).toContainEqual({ state: "broken", sentence: "The file that proves who you are is damaged." })
  expect(found.filter(({ sentence }) => sentence.includes("opens the database"))).toHaveLength(1)
})
