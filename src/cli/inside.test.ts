import { expect, test } from "vitest"
import type { App } from "../model/app.ts"
import { runOver } from "./testing.ts"

/** Every command there is, with words that are right. */
const people = [
  "approvals",
  "approvals list",
  "approvals show 1",
  "approvals approve 1",
  "approvals edit 1 {}",
  "approvals reject 1",
  "approvals release 1",
  "approvals withhold 1",
  "approvals answer 1 yes",
  "approvals watch",
  "grants",
  "grants list",
  "grants revoke 1",
  "rules add {}",
  "rules remove 1",
  "roles create --name x",
  "roles update x --level 1",
  "roles delete x",
  "agents create --role x",
  "agents terminate x",
  "agents inbox x",
  "departments create --id x",
  "departments rename x --name y",
  "departments delete x",
  "people create --id x",
  "people update x --name y",
  "people delete x",
  "freeze",
  "thaw",
  "mode plan --session s",
  "trust",
  "init",
  "backup there",
  "restore there",
  "audit drop --before 1d --yes",
]

/** An app that was not to be reached. */
const untouched = new Proxy({} as App, {
  get: () => {
    throw new Error("The house was opened.")
  },
})

test.each(people)("inside a tool 'qm %s' is refused before anything is opened", async (line) => {
  const refused = await runOver({}, line.split(" "), {
    env: { QM_INSIDE: "1" },
    house: { open: () => Promise.resolve(untouched), loadConfig: () => Promise.reject(new Error("It was read.")) },
  })
  expect(refused).toMatchObject({ code: 3, stdout: "" })
  expect(refused.stderr).toMatch(/^'qm [a-z ]+' is for people, and this runs inside a tool \(QM_INSIDE is set\)\. Ask /)
})

test.each([
  "tools",
  "groups",
  "audit",
  "audit list",
  "audit stats",
  "audit export",
  "rules",
  "roles list",
  "agents",
  "departments",
  "people",
  "why sleep",
])("inside a tool 'qm %s' works", async (line) => {
  const app = {
    visibleTools: () => [],
    listGroups: () => [],
    why: () => Promise.resolve({ heard: [], touches: { list: [], proved: true }, approvers: [], change: [] } as never),
    rules: { list: () => [], flaws: () => [] },
    org: { listRoles: () => [], listAgents: () => [], listDepartments: () => [], listPeople: () => [] },
    audit: {
      list: () => Promise.resolve([]),
      stats: () =>
        Promise.resolve({ total: 0, failures: 0, byTool: {}, byAgent: {}, byRole: {}, byEnding: {}, byHour: {} }),
      export: async function* () {},
    },
  }
  expect(await runOver(app, line.split(" "), { env: { QM_INSIDE: "1" } })).toMatchObject({ code: 0 })
})

test("somebody who cannot prove who they are changes nothing", async () => {
  const app = { org: { deleteRole: () => Promise.reject(new Error("It was reached.")) } }
  const whoIs = () => Promise.reject(new Error("Nothing here proves that you are 'ann'."))
  expect(await runOver(app, ["--as", "ann", "roles", "delete", "x"], { house: { whoIs } })).toEqual({
    code: 3,
    stdout: "",
    stderr: "Nothing here proves that you are 'ann'.\n",
  })
})
