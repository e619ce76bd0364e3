import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import type { AgentView } from "../core/organisation.ts"
import type { NewRole } from "./organisation-admin.ts"
import { openDatabase } from "../store/sqlite/database.ts"
import { migrate } from "../store/sqlite/kysely.ts"
import type { Directory } from "./directory.ts"
import { agent, ann, codeOf, directoryOver } from "./testing/open-directory.ts"

const config = {
  roles: [
    {
      name: "developer",
      toolGroups: ["org_management", "data"],
      level: 2,
      department: "north",
      pins: { sleep: "1.0.0" },
    },
    { name: "chief", toolGroups: ["org_management", "system", "network"], level: 5, department: "south" },
    { name: "free" },
  ],
  agents: [
    { id: "dev", role: "developer" },
    { id: "chief", role: "chief" },
    { id: "free", role: "free" },
    { id: "below", role: "chief", parent: "dev" },
  ],
}

/** Names that would give permissions, names close to them, and plain ones. */
const temptingNames = [
  "root",
  "operator",
  "developer",
  "chief",
  "free",
  "lead",
  "Developer",
  "developer ",
  "dev",
  "user",
  "*",
]
const names = [...temptingNames, ..."a b c d e f g h i j k".split(" ")]

interface Step {
  what: "create" | "update" | "delete" | "spawn" | "terminate" | "person updates" | "person deletes"
  who: number
  which: number
  name: string
  given: Omit<NewRole, "name">
}

/** Most steps must be possible, otherwise no tree of agents grows. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    what: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom("create" as const, "spawn" as const) },
      {
        weight: 2,
        arbitrary: fc.constantFrom("update", "update", "delete", "terminate", "person updates", "person deletes"),
      },
    ) as fc.Arbitrary<Step["what"]>,
    who: fc.nat(),
    which: fc.nat(),
    name: fc.constantFrom(...names),
    given: fc.record({
      toolGroups: seldom(fc.option(fc.subarray(["org_management", "data", "system", "network", "command"]))),
      level: seldom(fc.integer({ min: -1, max: 9 })),
      department: seldom(fc.constantFrom("", "north", "south", "west")),
      pins: seldom(fc.constant({ sleep: "9.0.0" })),
    }),
  }),
  { minLength: 10, maxLength: 50, size: "max" },
)

/** One step of an agent that tries to gain permissions. A refused step changes nothing. */
async function take(directory: Directory, { what, who, which, name, given }: Step): Promise<string | undefined> {
  const everyone = directory.listAgents({ includeTerminated: true })
  const newest = everyone.filter(({ madeBy }) => madeBy === "agent").slice(-3)
  const among = who % 2 === 0 && newest.length > 0 ? newest : everyone
  const by = agent(among[Math.floor(who / 2) % among.length]!.id)
  const roles = directory.listRoles()
  const role = roles[which % roles.length]!
  const own = roles.filter(({ createdBy, status }) => createdBy === by.id && status === "active")
  const mine = own[which % Math.max(1, own.length)]?.id
  // Mostly a role of its own; sometimes the id of another role, or a name that may be taken.
  const called = which % 4 === 0 ? name : which % 4 === 1 ? role.id : (mine ?? role.id)
  const children = everyone.filter(({ parentId, status }) => parentId === by.id && status === "active")
  const target = which % 3 === 0 ? everyone[which % everyone.length] : (children[0] ?? everyone[0])
  switch (what) {
    case "create":
      return codeOf(directory.createRole({ name, ...given }, by))
    case "update":
      return codeOf(directory.updateRole(called, which % 2 === 0 ? { name, ...given } : given, by))
    case "delete":
      return codeOf(directory.deleteRole(called, by))
    case "spawn": {
      if (mine === undefined && which % 4 > 1) await codeOf(directory.createRole({ name: `${name} ${which}` }, by))
      const { level, department, pins } = which % 5 === 0 ? given : {}
      const chosen = mine === undefined && which % 4 > 1 ? `${name} ${which}` : called
      return codeOf(directory.createAgent({ role: chosen, level, department, pins }, by))
    }
    case "terminate":
      return codeOf(directory.terminateAgent(target!.id, by))
    case "person updates":
      return codeOf(directory.updateRole(role.id, given, ann))
    case "person deletes":
      return codeOf(directory.deleteRole(role.id, ann))
  }
}

function within(low: AgentView, high: AgentView, levelOrder: "asc" | "desc"): void {
  if (high.groups !== null) expect(high.groups).toEqual(expect.arrayContaining([...(low.groups ?? ["everything"])]))
  expect(levelOrder === "asc" ? low.level <= high.level : low.level >= high.level).toBe(true)
  if (high.department !== undefined || low.agent.madeBy === "agent") expect(low.department).toBe(high.department)
  if (low.agent.madeBy !== "agent") return
  expect(low.role).toMatchObject({ madeBy: "agent", createdBy: low.agent.parentId })
  expect(low.pins).toEqual(high.pins)
}

test.each(["asc", "desc"] as const)(
  "law: whatever agents create, change and terminate, no agent exceeds an ancestor; levels %s",
  async (levelOrder) => {
    const database = await openDatabase(":memory:")
    onTestFinished(() => database.close())
    await migrate(database)
    const outcomes = new Map<string, number>()
    let deepest = 0
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        database.exec("delete from documents")
        const { directory } = directoryOver(database, { config, levelOrder })
        const { role } = await directory.createRole({ name: "lead", level: 7, department: "west" }, ann)
        await directory.createAgent({ id: "lead", role: role.id }, ann)
        for (const step of taken) {
          const code = await take(directory, step)
          outcomes.set(`${step.what}: ${code ?? "done"}`, (outcomes.get(`${step.what}: ${code ?? "done"}`) ?? 0) + 1)
          for (const { id } of directory.listAgents()) {
            const view = directory.view(id)
            if (view === undefined || id === "root") continue
            for (const above of view.ancestors) within(view, above, levelOrder)
            deepest = Math.max(deepest, view.ancestors.length)
            if (view.agent.parentId !== undefined && view.agent.parentId !== "root") {
              expect(view.ancestors[0]?.agent.id).toBe(view.agent.parentId)
            }
          }
          expect(directory.view("root")?.groups).toEqual(["org_management"])
        }
      }),
      { numRuns: 100 },
    )
    // Checks that the steps did something, otherwise the law proves nothing.
    expect(deepest).toBeGreaterThan(2)
    const happened = ["create: done", "spawn: done", "terminate: done", "update: done", "create: tool_groups_not_held"]
    const refused = [
      "create: level_not_held",
      "create: department_not_held",
      "spawn: not_child_role",
      "spawn: person_required",
    ]
    for (const outcome of [...happened, ...refused]) expect(outcomes.get(outcome) ?? 0, outcome).toBeGreaterThan(0)
  },
)

test.each(["root", "operator", "developer", "chief"])(
  "an agent that asks for a role named '%s' cannot create agents with it",
  async (name) => {
    const database = await openDatabase(":memory:")
    onTestFinished(() => database.close())
    await migrate(database)
    const { directory } = directoryOver(database, { config })
    const { role, created } = await directory.createRole({ name, toolGroups: ["data"] }, agent("dev"))
    expect([created, role.madeBy]).toEqual([false, "configuration"])
    expect(await codeOf(directory.createAgent({ role: role.id }, agent("dev")))).toBe("not_child_role")
  },
)

test("lowering a parent's permissions later lowers those of its children", async () => {
  const database = await openDatabase(":memory:")
  onTestFinished(() => database.close())
  await migrate(database)
  const { directory } = directoryOver(database)
  await directory.createRole({ name: "lead", toolGroups: ["data", "system"], level: 7, department: "west" }, ann)
  await directory.createAgent({ id: "lead", role: "lead" }, ann)
  const { role } = await directory.createRole({ name: "helper" }, agent("lead"))
  const { id } = await directory.createAgent({ role: role.id }, agent("lead"))
  const rights = () => {
    const { groups, level, department } = directory.view(id)!
    return [groups, level, department]
  }
  expect(rights()).toEqual([["data", "system"], 7, "west"])
  await directory.updateRole("lead", { toolGroups: ["data"], level: 1, department: "" }, ann)
  expect(rights()).toEqual([["data"], 1, undefined])
  await directory.updateRole("helper", { toolGroups: ["network", "data"], level: 9, department: "east" }, ann)
  expect(rights()).toEqual([["data"], 1, undefined])
})
