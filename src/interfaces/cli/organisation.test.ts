import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { AgentActivity } from "../../agents/society/overview.ts"
import type {
  ChangedBy,
  NewAgent,
  NewPerson,
  NewRole,
  OrganisationAdmin,
  Sourced,
} from "../../org/organisation-admin.ts"
import { OrganisationError } from "../../org/organisation-admin.ts"
import type { Agent, Person, Role } from "../../core/organisation.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { runWithApp, type AppParts } from "./testing.ts"

const made = { createdBy: "ada", madeBy: "person", createdAt: "2026-01-01T00:00:00.000Z", source: "store" } as const
const developer: Sourced<Role> = {
  ...made,
  id: "r1",
  name: "developer",
  rolePrompt: "You build.\nsource: configuration",
  status: "active",
  llmServiceId: null,
  toolGroups: ["data", "system"],
  department: "eng",
  level: 2,
  pins: { sleep: "1.0.0" },
}
const operator: Sourced<Role> = {
  ...developer,
  id: "operator",
  name: "operator",
  toolGroups: null,
  department: undefined,
  level: undefined,
  madeBy: "configuration",
  source: "built in",
}
const agent = (id: string, parentId?: string): Sourced<Agent> => ({
  ...made,
  id,
  roleId: "r1",
  parentId,
  status: "active",
})
const ann: Sourced<Person> = { ...made, id: "ann", name: "Ann", roles: ["lead"], status: "active", hasToken: true }

/** A fake organisation that records calls. */
function cliWithOrganisation(replaced: Partial<OrganisationAdmin> = {}, parts: AppParts = {}) {
  const received: unknown[] = []
  const tell = <T>(result: T, ...what: unknown[]): Promise<T> => (received.push(what), Promise.resolve(result))
  const agents = [agent("dev"), agent("child", "dev"), agent("grandchild", "child")]
  const org: Partial<OrganisationAdmin> = {
    listRoles: () => [developer, operator, { ...developer, name: "old", status: "deleted" }],
    findRole: (name) => [developer, operator].find((role) => role.name === name || role.id === name),
    createRole: (given, by) => tell({ role: developer, created: true }, "createRole", given, by),
    updateRole: (name, change, by) => tell({ role: developer }, "updateRole", name, change, by),
    deleteRole: (name, by) => tell(developer, "deleteRole", name, by),
    listAgents: () => agents,
    findAgent: (id) => agents.find((each) => each.id === id),
    view: () => undefined,
    createAgent: (given, by) => tell(agent(given.id ?? "minted"), "createAgent", given, by),
    terminateAgent: (id, by, reason) => tell([id, "child"], "terminateAgent", id, by, reason),
    inbox: () =>
      Promise.resolve([
        {
          id: "m1",
          from: "dev\u001b[31m",
          to: "child",
          payload: { text: "hi" },
          createdAt: 0,
          deliverAt: 0,
          kind: "message" as const,
          hops: 0,
          readAt: null,
        },
      ]),
    listDepartments: () => [{ ...made, id: "eng", name: "eng", status: "active" }],
    createDepartment: ({ id, name = id }, by) =>
      tell({ ...made, id, name, status: "active" }, "createDepartment", id, name, by),
    renameDepartment: (id, name, by) => tell({ ...made, id, name, status: "active" }, "renameDepartment", id, name, by),
    deleteDepartment: (id, by) => tell({ ...made, id, name: id, status: "deleted" }, "deleteDepartment", id, by),
    listPeople: () => [ann],
    findPerson: (id) => (id === "ann" ? ann : undefined),
    createPerson: (given, by) => tell({ person: ann, token: "qmp_secret" }, "createPerson", given, by),
    updatePerson: (id, change, by) => tell(ann, "updatePerson", id, change, by),
    deletePerson: (id, by) => tell(ann, "deletePerson", id, by),
    ...replaced,
  }
  const app: AppParts = {
    org,
    frozen: () => [{ agentId: "dev", by: "eve", at: 0, because: "it loops" }],
    visibleTools: () => [],
    listGroups: () => [],
    audit: { show: () => Promise.resolve([]), beginningWith: () => Promise.resolve([]) },
  }
  return { received, run: (...words: string[]) => runWithApp({ ...app, ...parts }, words) }
}

const ada: ChangedBy = { kind: "person", id: "ada" }

test("roles are listed with their groups, department, level and source, the deleted ones only on request", async () => {
  const { run } = cliWithOrganisation()
  expect((await run("roles")).stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["NAME", "GROUPS", "DEPARTMENT", "LEVEL", "SOURCE"],
    ["developer", "data, system", "eng", "2", "store"],
    ["operator", "all", "-", "-", "built in"],
    [""],
  ])
  expect((await run("roles", "list", "--all")).stdout).toContain("old (deleted)")
  expect(JSON.parse((await run("roles", "list", "--json")).stdout)).toMatchObject([{ id: "r1" }, { id: "operator" }])
})

test("a role is shown with its source, and its prompt cannot look like a field", async () => {
  const { run } = cliWithOrganisation()
  const { stdout } = await run("roles", "show", "developer")
  expect(stdout.match(/^source: .*$/gm)).toEqual([expect.stringMatching(/^source: +store$/)])
  expect(stdout).toMatch(/^pins: +sleep=1\.0\.0$/m)
  expect(await run("roles", "show", "develper")).toEqual({
    code: 1,
    stdout: "",
    stderr: "There is no role 'develper'. Did you mean 'developer'?\n",
  })
})

const every = ["--groups", "data, system", "--department", "eng", "--level", "2", "--dialect", "claude"]
const more = ["--prompt", "You build.", "--pin", "sleep=1.0.0", "--pin", "get_env=2.0.0", "--model", "m1"]
const fields: Partial<NewRole> = {
  toolGroups: ["data", "system"],
  department: "eng",
  level: 2,
  dialect: "claude",
  rolePrompt: "You build.",
  pins: { sleep: "1.0.0", get_env: "2.0.0" },
  llmServiceId: "m1",
}

test.each<[string, string[], unknown[]]>([
  [
    "create",
    ["roles", "create", "--name", "developer", ...every, ...more],
    ["createRole", { name: "developer", ...fields }],
  ],
  ["create with a name only", ["roles", "create", "--name", "x"], ["createRole", { name: "x" }]],
  ["update everything", ["roles", "update", "developer", ...every, ...more], ["updateRole", "developer", fields]],
  [
    "clear the groups",
    ["roles", "update", "developer", "--groups", ""],
    ["updateRole", "developer", { toolGroups: [] }],
  ],
  [
    "all groups",
    ["roles", "update", "developer", "--groups", "all"],
    ["updateRole", "developer", { toolGroups: null }],
  ],
  [
    "clear the rest",
    ["roles", "update", "developer", "--department", "", "--model", ""],
    ["updateRole", "developer", { department: "", llmServiceId: null }],
  ],
  ["rename", ["roles", "update", "developer", "--name", "builder"], ["updateRole", "developer", { name: "builder" }]],
  ["a negative level", ["roles", "update", "developer", "--level", "-1"], ["updateRole", "developer", { level: -1 }]],
  ["delete", ["roles", "delete", "developer"], ["deleteRole", "developer"]],
  [
    "an agent",
    [
      "agents",
      "create",
      "--id",
      "dev",
      "--role",
      "developer",
      "--department",
      "eng",
      "--level",
      "1",
      "--parent",
      "child",
    ],
    [
      "createAgent",
      { id: "dev", role: "developer", department: "eng", level: 1, parentId: "child" } satisfies NewAgent,
    ],
  ],
  ["a department", ["departments", "create", "--id", "eng"], ["createDepartment", "eng", "eng"]],
  [
    "a department's name",
    ["departments", "rename", "eng", "--name", "Engineering"],
    ["renameDepartment", "eng", "Engineering"],
  ],
  ["a department's end", ["departments", "delete", "eng"], ["deleteDepartment", "eng"]],
  [
    "a person",
    ["people", "create", "ann", "--roles", "lead,dev", "--name", "Ann"],
    [
      "createPerson",
      { id: "ann", name: "Ann", roles: ["lead", "dev"], lifetimeMs: 90 * 24 * 3_600_000 } satisfies NewPerson,
    ],
  ],
  ["a person's roles", ["people", "update", "ann", "--roles", ""], ["updatePerson", "ann", { roles: [] }]],
  ["a person's name", ["people", "update", "ann", "--name", "Anne"], ["updatePerson", "ann", { name: "Anne" }]],
  ["a person's end", ["people", "delete", "ann"], ["deletePerson", "ann"]],
])("only the given fields are passed on: %s", async (_, words, expected) => {
  const { run, received } = cliWithOrganisation()
  expect(await run(...words)).toMatchObject({ code: 0 })
  expect(received).toEqual([[...expected, ada]])
  const { received: receivedByEve, run: runAgain } = cliWithOrganisation()
  await runAgain(...words, "--as", "eve", "--json")
  expect(receivedByEve).toEqual([[...expected, { kind: "person", id: "eve" }]])
})

test.each([
  [
    ["roles", "create"],
    "Required option '--name <name>' not specified. 'qm roles create --help' shows how to use it.\n",
  ],
  [["roles", "update", "developer"], "Nothing to change. 'qm roles update --help' shows the fields.\n"],
  [["roles", "update", "developer", "--level", "high"], "--level takes a number, and 'high' is none.\n"],
  [["roles", "update", "developer", "--level", ""], "--level takes a number, and '' is none.\n"],
  [
    ["roles", "update", "developer", "--pin", "sleep"],
    "--pin takes tool=version, for example --pin sleep=1.0.0, and 'sleep' is not that.\n",
  ],
  [["roles", "update", "developer", "--pin", "=1"], "--pin takes tool=version"],
  [["roles", "update", "developer", "--prompt", "@missing.md"], "--prompt names a file that cannot be read: ENOENT"],
  [["people", "update", "ann"], "Nothing to change. Give --name, --roles or both.\n"],
  [["agents", "create", "--id", "x"], "Required option '--role <role>' not specified."],
  [["people", "create"], "Give the id of the new person."],
  [["departments", "create", "a", "--id", "b"], "The id is given twice. Leave out --id."],
])("%j is wrong usage", async (words, stderr) => {
  const { run, received } = cliWithOrganisation()
  const result = await run(...words)
  expect(result).toMatchObject({ code: 2, stdout: "" })
  expect(result.stderr).toContain(stderr.trimEnd())
  expect(received).toEqual([])
})

test("a refused change is reported by its sentence, and with --json by its code", async () => {
  const error = new OrganisationError("invalid_tool_group_ids", "There is no group 'dta'.", { invalidGroups: ["dta"] })
  const { run } = cliWithOrganisation({ updateRole: () => Promise.reject(error) })
  const words = ["roles", "update", "developer", "--groups", "dta"]
  expect(await run(...words)).toEqual({ code: 2, stdout: "", stderr: "There is no group 'dta'.\n" })
  const json = await run(...words, "--json")
  expect(json.code).toBe(2)
  expect(JSON.parse(json.stdout)).toEqual({
    error: "invalid_tool_group_ids",
    message: "There is no group 'dta'.",
    invalidGroups: ["dta"],
  })
})

test("a hint is printed with the result; an existing role is not changed", async () => {
  const hint = "No groups were chosen, so the role has all groups."
  const { run } = cliWithOrganisation({ createRole: () => Promise.resolve({ role: developer, created: true, hint }) })
  const created = await run("roles", "create", "--name", "developer")
  expect(created).toMatchObject({ code: 0, stderr: `${hint}\n` })
  const { run: again } = cliWithOrganisation({ createRole: () => Promise.resolve({ role: developer, created: false }) })
  expect((await again("roles", "create", "--name", "developer")).stdout).toContain("was not changed")
})

test("a department that does not exist is taken while there is none, and said", async () => {
  const { run } = cliWithOrganisation({ listDepartments: () => [] })
  const created = await run("roles", "create", "--name", "developer", "--department", "eng")
  expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining("'qm departments create eng'") })
})

test("an agent is shown with the department and level that it has by its role", async () => {
  const view = { department: "eng", level: 2 } as never
  const { run } = cliWithOrganisation({ view: () => view, findRole: () => ({ ...developer, level: 4 }) })
  expect((await run("agents", "show", "dev")).stdout).toMatch(/^department: eng\nlevel: +2$/m)
  expect(JSON.parse((await run("agents", "show", "dev", "--json")).stdout)).toMatchObject({
    department: "eng",
    level: 2,
  })
  expect((await run("agents", "list")).stdout).toMatch(/^dev +developer +eng +2/m)
})

test("what is built in or configured has no time of creation", async () => {
  const { run } = cliWithOrganisation({ findRole: () => ({ ...operator, source: "built in" }) })
  expect((await run("roles", "show", "operator")).stdout).not.toMatch(/created/)
  expect(JSON.parse((await run("roles", "show", "operator", "--json")).stdout)).toMatchObject({ createdAt: null })
})

test("an agent is shown with its ancestors, its freeze and its unread messages", async () => {
  const { run } = cliWithOrganisation()
  const { stdout } = await run("agents", "show", "grandchild")
  expect(stdout).toMatch(/^ancestors:  child ← dev$/m)
  expect(stdout).toMatch(
    /^frozen: +agent dev and its sub-agents, by eve at .*: it loops \('qm thaw --agent dev' ends the freeze\)$/m,
  )
  expect(stdout).toMatch(/^unread: +1 message /m)
  expect(JSON.parse((await run("agents", "show", "grandchild", "--json")).stdout)).toMatchObject({
    ancestors: ["child", "dev"],
    tools: 0,
    unread: 1,
    frozen: { agentId: "dev" },
  })
  expect(await run("agents", "show", "dve")).toMatchObject({
    code: 1,
    stderr: "There is no agent 'dve'. Did you mean 'dev'?\n",
  })
})

test("an agent whose run has ended is shown as idle, and still as active: the run can be resumed", async () => {
  const now = { role: "developer", questions: [], waitsFor: [], unread: 0, spent: {} as never }
  const overview: AgentActivity[] = [
    { ...now, agentId: "dev", state: "working" },
    { ...now, agentId: "child", state: "idle", runEnded: true },
  ]
  const { run } = cliWithOrganisation({}, { society: { overview: () => Promise.resolve(overview) } as never })
  const { stdout } = await run("agents", "list")
  expect(stdout).toMatch(/^dev .* active +works /m)
  expect(stdout).toMatch(/^child .* active +idle, its run has ended /m)
  expect(JSON.parse((await run("agents", "list", "--json")).stdout)).toMatchObject([
    { id: "dev", status: "active", activity: "working" },
    { id: "child", status: "active", activity: "idle", runEnded: true },
    { id: "grandchild" },
  ])
  expect((await run("agents", "show", "child")).stdout).toMatch(/^now: +idle, its run has ended$/m)
})

test("agents that are each other's parents are shown and do not hang the command", async () => {
  const ring = [agent("a", "b"), agent("b", "a"), agent("below", "a")]
  const { run } = cliWithOrganisation({ findAgent: (id) => ring.find((each) => each.id === id) })
  expect((await run("agents", "show", "a")).stdout).toMatch(/^ancestors:  b$/m)
  expect((await run("agents", "show", "below")).stdout).toMatch(/^ancestors:  a ← b$/m)
})

test("terminated agents, messages and deleted people are one line each, with control characters escaped", async () => {
  const { run, received } = cliWithOrganisation()
  expect((await run("agents", "terminate", "dev", "--reason", "done")).stdout).toBe("Terminated dev, child.\n")
  expect(received).toEqual([["terminateAgent", "dev", ada, "done"]])
  const { stdout } = await run("agents", "inbox", "child")
  expect(stdout).toMatch(/ from dev\\u\{1b\}\[31m, unread \(.*\)\n  \{"text":"hi"\}\n$/)
  expect(await run("agents", "inbox", "nobody")).toMatchObject({ code: 1 })
  expect((await run("agents", "inbox", "user")).code).toBe(0)
})

test("a person's token is shown once with its file, and its hash never", async () => {
  const { run } = cliWithOrganisation()
  const { stdout } = await run("people", "create", "--id", "ann")
  expect(stdout).toContain("  qmp_secret\n")
  expect(stdout).toMatch(/\/home\/.config\/quartermaster\/people\/[\w-]+-[0-9a-f]{12}\/ann\.token, so/)
  for (const words of [["people"], ["people", "show", "ann"], ["people", "create", "--id", "ann"]]) {
    expect((await run(...words, "--json")).stdout).not.toContain("tokenHash")
  }
})

test.each<[Partial<Person>, RegExp]>([
  [{}, /^token: +works until it is revoked \(only its hash is stored\)$/m],
  [{ tokenExpiresAt: Date.UTC(2030, 5, 15) }, /^token: +works until 2030-06-1.* \(only its hash is stored\)$/m],
  [{ hasToken: false }, /^token: +none, so nobody can act as this person$/m],
  [
    { hasToken: false, madeBy: "configuration" },
    /^token: +none; the login 'ann' on this machine acts as this person$/m,
  ],
])("a person with %j is shown with how they prove their identity", async (more, line) => {
  const { run } = cliWithOrganisation({ findPerson: () => ({ ...ann, ...more }) })
  expect((await run("people", "show", "ann")).stdout).toMatch(line)
  expect(JSON.parse((await run("people", "show", "ann", "--json")).stdout)).toMatchObject({ ...ann, ...more })
})

test.each([
  [["roles", "show", "nope"], "role_not_found", "There is no role 'nope'. 'qm roles list' shows all roles."],
  [["agents", "show", "nope"], "agent_not_found", "There is no agent 'nope'. 'qm agents list' shows all agents."],
  [["people", "show", "nope"], "person_not_found", "There is no person 'nope'. 'qm people list' shows all people."],
  [
    ["tools", "show", "nope"],
    "tool_not_found",
    "There is no tool 'nope' for this agent. 'qm tools list' shows what there is.",
  ],
  [
    ["groups", "show", "nope"],
    "group_not_found",
    "There is no group 'nope' for this agent. 'qm groups list' shows what there is.",
  ],
  [["audit", "show", "nope"], "call_not_found", "No call has the id 'nope'. 'qm audit list' shows whole ids."],
])("%j prints a sentence, and JSON with --json", async (words, error, message) => {
  const { run } = cliWithOrganisation()
  expect(await run(...words)).toEqual({ code: 1, stdout: "", stderr: `${message}\n` })
  const json = await run(...words, "--json")
  expect(json).toMatchObject({ code: 1, stderr: `${message}\n` })
  expect(JSON.parse(json.stdout)).toEqual({ error, message })
})

test("a token that cannot be saved to a file is shown all the same", async () => {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, "home"), "This is no folder.")
  const org = { createPerson: () => Promise.resolve({ person: ann, token: "qmp_secret" }) }
  const created = await runWithApp({ org }, ["people", "create", "--id", "ann"], { cwd })
  expect(created.code).toBe(0)
  expect(created.stdout).toContain("  qmp_secret\nIt could not be saved on this machine: ")
})
