import { expect, test } from "vitest"
import type { OrganisationBook } from "../model/organisation-book.ts"
import { runOver, type AppParts } from "./testing.ts"

const names = (source: string): Partial<OrganisationBook> => {
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

async function findings(parts: AppParts, given: Parameters<typeof runOver>[2] = {}): Promise<Finding[]> {
  const sqlite = () => Promise.resolve({ name: "a package", version: "3" })
  const { stdout } = await runOver(parts, ["doctor", "--json"], { ...given, house: { sqlite, ...given.house } })
  return JSON.parse(stdout) as Finding[]
}

test("the doctor says who you are, what is frozen and which rules have flaws", async () => {
  const more: AppParts = {
    rules: { flaws: () => [{ kind: "dead", source: "rules[0]", sentence: "There is no tool 'x'." }] },
    frozen: () => [{ by: "eve", at: 0, because: "it loops" }],
  }
  const found = await findings(app("store", more))
  expect(found).toContainEqual({ state: "ok", sentence: "You are ada, proved by this test." })
  expect(found).toContainEqual({ state: "note", sentence: "Rule: rules[0] (dead): There is no tool 'x'." })
  expect(found).toContainEqual({
    state: "note",
    sentence: expect.stringMatching(/^Frozen: everyone, by eve at .*: it loops \('qm thaw' ends it\)\.$/) as string,
  })
})

test("the doctor tells of a configured agent whose parent is not there", async () => {
  const org = names("configuration")
  const listAgents: OrganisationBook["listAgents"] = () =>
    (org.listAgents?.() ?? []).map((agent) => ({ ...agent, parentId: "nobody" }))
  expect(await findings(app("configuration", { org: { ...org, listAgents } }))).toContainEqual({
    state: "note",
    sentence: "Agent 'dev' has nothing: its parent 'nobody' does not exist. Correct its parent in org.agents.",
  })
})

test("the doctor names what the configuration covers in the store, and nothing else", async () => {
  const config = { org: { roles: [] } }
  const open = (loaded: { config: { org?: unknown } }) =>
    Promise.resolve({
      close: () => Promise.resolve(),
      ...app(loaded.config.org === undefined ? "store" : "configuration"),
    } as never)
  const covered = (await findings({}, { config, house: { open } })).filter(({ sentence }) =>
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
    /run in the sandbox bubblewrap: .*no network unless/,
  ],
  [
    "none",
    () => ({ kind: "none", because: "it is off", network: true }),
    "missing",
    /because it is off\. Each has your own rights, so it always asks/,
  ],
  [
    "one that is required and absent",
    () => {
      throw new Error("There is none.")
    },
    "broken",
    /^There is none\.$/,
  ],
] as const)("the doctor says what holds a command: %s", async (_what, sandbox, state, sentence) => {
  const found = await findings(app("store", { sandbox } as AppParts))
  expect(found).toContainEqual({ state, sentence: expect.stringMatching(sentence) as string })
})

test("inside a tool nobody is a person, and that is no defect", async () => {
  const whoIs = () => Promise.reject(new Error("It was asked for."))
  const found = await findings(app("store"), { env: { QM_INSIDE: "1" }, house: { whoIs } })
  expect(found.filter(({ state }) => state === "broken")).toEqual([])
  expect(found.some(({ sentence }) => sentence.includes("nobody is a person"))).toBe(true)
})

test("who cannot prove who they are is broken, and the rest is still told", async () => {
  const whoIs = () => Promise.reject(new Error("The file that proves who you are is damaged."))
  const found = await findings(app("store"), { house: { whoIs } })
  expect(found).toContainEqual({ state: "broken", sentence: "The file that proves who you are is damaged." })
  expect(found.filter(({ sentence }) => sentence.includes("opens the store"))).toHaveLength(1)
})
