import { expect, test } from "vitest"
import { agent, ann, codeOf, openDirectory } from "./testing/open-directory.ts"

const bob = { kind: "person", id: "bob" } as const

test("concurrent changes to one role in two directories are all applied", async () => {
  const here = await openDirectory()
  const there = await here.again()
  await here.directory.createRole({ name: "dev" }, ann)
  await Promise.all([
    here.directory.updateRole("dev", { rolePrompt: "new" }, ann),
    there.directory.updateRole("dev", { level: 3 }, bob),
    here.directory.updateRole("dev", { toolGroups: ["data"] }, ann),
    there.directory.updateRole("dev", { department: "x" }, bob),
  ])
  await here.documents.refresh()
  expect(here.directory.findRole("dev")).toMatchObject({
    rolePrompt: "new",
    level: 3,
    toolGroups: ["data"],
    department: "x",
  })
})

test("when two directories take one name or id, or terminate one agent at once, one succeeds and the other gets a code", async () => {
  const here = await openDirectory({ config: { roles: [{ name: "dev" }] } })
  const there = await here.again()
  const both = async (work: (directory: typeof here.directory, index: number) => Promise<unknown>) => {
    const codes = await Promise.all([codeOf(work(here.directory, 0)), codeOf(work(there.directory, 1))])
    return codes.map((code) => code ?? "done").sort()
  }
  for (let run = 0; run < 20; run++) {
    for (const side of ["a", "b"]) await here.directory.createRole({ name: `${side}${run}` }, ann)
    expect(await both((it, index) => it.updateRole(`${"ab"[index]}${run}`, { name: `c${run}` }, ann))).toEqual([
      "done",
      "name_taken",
    ])
    expect(await both((it) => it.createAgent({ id: `x${run}`, role: "dev" }, ann))).toEqual(["agent_exists", "done"])
    expect(await both((it) => it.terminateAgent(`x${run}`, ann))).toEqual(["agent_not_found", "done"])
    expect(await both((it) => it.createPerson({ id: `p${run}` }, ann))).toEqual(["done", "person_exists"])
    expect(await both((it) => it.createDepartment({ id: `d${run}` }, ann))).toEqual(["department_exists", "done"])
  }
  expect([...here.stopped, ...there.stopped].length).toBeGreaterThanOrEqual(20)
})

test("two directories that create agents at once create no more than agents.maxAgents together", async () => {
  const here = await openDirectory({ limits: { maxAgents: 5, maxDepth: 1 } })
  const there = await here.again()
  const { role } = await here.directory.createRole({ name: "helper" }, agent("root"))
  const codes = await Promise.all(
    [here, there, here, there, here, there, here, there].map(({ directory }) =>
      codeOf(directory.createAgent({ role: role.id }, agent("root"))),
    ),
  )
  expect(codes.filter((code) => code === undefined)).toHaveLength(5)
  expect(codes.filter((code) => code !== undefined)).toEqual(Array(3).fill("too_many_agents"))
  await here.documents.refresh()
  expect(here.directory.listAgents().filter(({ madeBy }) => madeBy === "agent")).toHaveLength(5)
})
