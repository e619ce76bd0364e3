import fc from "fast-check"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { z } from "zod"
import type { ExportedCall } from "../audit/audit-reader.ts"
import type { AgentView } from "../core/organisation.ts"
import type { Layer, ToolSpec } from "../core/tool.ts"
import { openDatabase } from "../store/sqlite/database.ts"
import { SqliteDocuments } from "../store/sqlite/documents.ts"
import { migrate } from "../store/sqlite/kysely.ts"
import { openTestApp, temporaryFolder, tool } from "../testing/test-app.ts"
import { armFor, openExperiments, type ConfiguredExperiments } from "./experiments.ts"
import { ToolRegistry } from "./registry.ts"

const trial = { name: "bake-2", tool: "bake", versions: ["1.0.0", "2.0.0"] as const }

const someAgents = Array.from({ length: 2000 }, (_, index) => `agent-${index}`)

/** Two connections to one database, one after the other. */
async function openDocuments(): Promise<{ again: () => SqliteDocuments }> {
  const file = join(temporaryFolder(), "experiments.db")
  const databases = [await openDatabase(file), await openDatabase(file)]
  onTestFinished(() => databases.forEach((database) => database.close()))
  await migrate(databases[0]!)
  let next = 0
  return { again: () => new SqliteDocuments(databases[next++]!) }
}

/** Opens the experiments as one process knows them; the tool `bake` has two versions. */
function processOf(
  documents: SqliteDocuments,
  configured: ConfiguredExperiments = {},
  calls: readonly Partial<ExportedCall>[] = [],
) {
  const asked: unknown[] = []
  let clock = 1000
  const experiments = openExperiments(configured, {
    documents,
    versionsOf: (name) => (name === "bake" ? ["1.0.0", "2.0.0"] : name === "brew" ? ["1.0.0", "2.0.0"] : []),
    canonical: (name) => (name === "Bake" ? "bake" : name),
    toolNames: () => ["bake", "brew"],
    audit: {
      async *export(filter) {
        asked.push(filter)
        yield* calls as ExportedCall[]
      },
    },
    now: () => clock++,
  })
  return { experiments, asked }
}

const who = (id: string, rest: Partial<AgentView> = {}): AgentView =>
  ({ agent: { id }, role: {}, groups: null, pins: {}, ancestors: [], level: 0, ...rest }) as AgentView

describe("the split", () => {
  it("law: an agent's arm depends on nothing but the experiment's name, its share and the agent", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        (name, agentId, share) => {
          const arm = armFor({ name, versions: ["a", "b"], share }, agentId)
          expect(armFor({ name, versions: ["a", "b"], share }, agentId)).toBe(arm)
          expect(["a", "b"]).toContain(arm)
          // Whoever has the second version keeps it when the share grows.
          if (arm === "b") expect(armFor({ name, versions: ["a", "b"], share: share + 0.009 }, agentId)).toBe("b")
        },
      ),
      { numRuns: 300 },
    )
  })

  it.each([0.1, 0.5, 0.9])("gives the second version to a share of %f of the agents", (share) => {
    const second = someAgents.filter((id) => armFor({ ...trial, share }, id) === "2.0.0")
    expect(Math.abs(second.length / someAgents.length - share)).toBeLessThan(0.03)
  })

  it("two experiments split differently", () => {
    const arms = (name: string) => someAgents.map((id) => armFor({ ...trial, name, share: 0.5 }, id)).join()
    expect(arms("one")).not.toBe(arms("two"))
  })
})

describe("which version an agent is given", () => {
  const bake = (version: string, spec: Partial<ToolSpec<never>> = {}) =>
    tool({ name: "bake", version, execute: () => version, ...spec })
  const arm = (_: string, agentId: string) => (agentId === "ada" ? "1.0.0" : undefined)
  function bakery(options: ConstructorParameters<typeof ToolRegistry>[0] = {}) {
    const registry = new ToolRegistry({ experimentArm: arm, ...options })
    registry.registerMany([bake("1.0.0"), bake("2.0.0")])
    return registry
  }

  it.each<[string, string, AgentView | undefined, string]>([
    ["the one of its arm", "bake", who("ada"), "1.0.0"],
    ["the newest, when it is in no experiment", "bake", who("bob"), "2.0.0"],
    ["the newest, when nobody asks", "bake", undefined, "2.0.0"],
    ["the one it is pinned to", "bake", who("ada", { pins: { bake: "2.0.0" } }), "2.0.0"],
    ["the one it asks for", "bake@2.0.0", who("ada"), "2.0.0"],
  ])("%s", (_, name, agent, version) => {
    expect(bakery().resolve(name, agent)?.version).toBe(version)
  })

  it("one that it asks for has the restrictions of its arm too", () => {
    const registry = new ToolRegistry({ experimentArm: arm })
    registry.registerMany([bake("1.0.0", { permission: { minLevel: 3 } }), bake("2.0.0")])
    expect(registry.resolve("bake@2.0.0", who("ada"))?.permission.minLevel).toBe(3)
    expect(registry.resolve("bake@2.0.0", who("bob"))?.permission.minLevel).toBeUndefined()
  })

  it("the usual one, while the version of its arm is not there or is off", () => {
    const registry = bakery()
    registry.unregister("bake", { version: "1.0.0" })
    expect(registry.resolve("bake", who("ada"))?.version).toBe("2.0.0")
    registry.register(bake("1.0.0", { dependsOn: ["oven"] }))
    expect(registry.resolve("bake", who("ada"))?.version).toBe("2.0.0")
    registry.register(tool({ name: "oven", execute: () => 1 }))
    expect(registry.resolve("bake", who("ada"))?.version).toBe("1.0.0")
  })

  it.each<[string, Layer]>([
    ["its own", "agent:ada"],
    ["its department's", "department:north"],
  ])("%s, where that covers the system's: an experiment does not reach past it", (_, layer) => {
    const registry = bakery()
    registry.register(bake("3.0.0", { permission: { minLevel: 9 } }), { layer })
    const agent = who("ada", { department: "north" })
    expect(registry.resolve("bake", agent)).toMatchObject({ layer, version: "3.0.0", permission: { minLevel: 9 } })
  })

  it("an arm of its own layer has the restrictions of what lies below", () => {
    const registry = new ToolRegistry({ experimentArm: arm })
    registry.register(bake("2.0.0", { permission: { minLevel: 4 } }))
    registry.registerMany([bake("1.0.0"), bake("3.0.0")], { layer: "agent:ada" })
    const found = registry.resolve("bake", who("ada"))
    expect(found).toMatchObject({ layer: "agent:ada", version: "1.0.0", permission: { minLevel: 4 } })
  })
})

describe("a person starts and stops it", () => {
  it("and every process sees it, until it is stopped", async () => {
    const { again } = await openDocuments()
    const [here, there] = [again(), again()]
    const [{ experiments }, other] = [processOf(here), processOf(there)]
    expect(other.experiments.armOf("bake", "ada")).toBeUndefined()
    const started = await experiments.start({ ...trial, tool: "Bake", share: 0.25 }, "ann")
    expect(started).toEqual({
      ...trial,
      share: 0.25,
      source: "store",
      state: "running",
      startedAt: 1000,
      startedBy: "ann",
    })
    await there.refresh()
    for (const id of someAgents.slice(0, 50)) {
      const arm = armFor({ ...trial, share: 0.25 }, id)
      expect([experiments.armOf("bake", id), other.experiments.armOf("bake", id)]).toEqual([arm, arm])
    }
    expect(other.experiments.list()).toEqual([{ ...started, problem: undefined }])
    expect(await other.experiments.stop("bake-2", "bob")).toMatchObject({
      state: "stopped",
      stoppedBy: "bob",
      startedBy: "ann",
    })
    await here.refresh()
    expect(experiments.armOf("bake", "ada")).toBeUndefined()
    expect(await experiments.stop("bake-2", "ann")).toBeUndefined()
    expect(experiments.list()).toMatchObject([{ name: "bake-2", state: "stopped" }])
    expect(await experiments.start(trial, "ann")).toMatchObject({ share: 0.5 })
    expect(experiments.list()).toMatchObject([{ name: "bake-2", state: "running" }])
    expect(experiments.list()[0]).not.toHaveProperty("stoppedAt")
  })

  it.each([
    [{ ...trial, name: "b c" }, "'b c' cannot be the name of an experiment"],
    [{ ...trial, versions: ["1.0.0", "1.0.0"] as const }, "The two versions are the same."],
    [{ ...trial, versions: ["1.0.0", "3.0.0"] as const }, "Tool bake has no version 3.0.0. There is: 1.0.0, 2.0.0."],
    [{ ...trial, tool: "bakes" }, "There is no tool 'bakes'. Did you mean 'bake'?"],
    [{ ...trial, share: 0 }, "The share lies between 0 and 1"],
    [{ ...trial, share: 1 }, "The share lies between 0 and 1"],
    [{ ...trial, share: Number.NaN }, "The share lies between 0 and 1"],
    [{ ...trial, name: "brew-2" }, "The experiment 'brew-2' with brew runs already."],
    [{ ...trial, name: "other", tool: "brew" }, "The experiment 'brew-2' with brew runs already."],
  ])("and is told what is wrong: %j", async (given, sentence) => {
    const { again } = await openDocuments()
    const { experiments } = processOf(again(), { "brew-2": { tool: "brew", versions: ["1.0.0", "2.0.0"] } })
    await expect(experiments.start(given, "ann")).rejects.toThrow(sentence)
    expect(experiments.list().map(({ name }) => name)).toEqual(["brew-2"])
  })

  it("one of the two who start one with the same tool at once is refused", async () => {
    const { again } = await openDocuments()
    const [here, there] = [processOf(again()), processOf(again())]
    const both = [here.experiments.start(trial, "ann"), there.experiments.start({ ...trial, name: "rival" }, "bob")]
    const ended = (await Promise.allSettled(both)).map(({ status }) => status)
    expect(ended.sort()).toEqual(["fulfilled", "rejected"])
  })
})

describe("what the configuration says", () => {
  it("runs as long as it is there, and is stopped nowhere else", async () => {
    const { again } = await openDocuments()
    const { experiments } = processOf(again(), { written: { tool: "bake", versions: ["1.0.0", "2.0.0"], share: 0.9 } })
    expect(experiments.armOf("bake", "ada")).toBe(armFor({ ...trial, name: "written", share: 0.9 }, "ada"))
    expect(experiments.list()).toMatchObject([
      { name: "written", source: "configuration", state: "running", problem: undefined },
    ])
    await expect(experiments.stop("written", "ann")).rejects.toThrow("is in the configuration. Remove it there.")
  })

  it("is shown with its problem, where nobody is given either version", async () => {
    const { again } = await openDocuments()
    const documents = again()
    await processOf(documents).experiments.start(trial, "ann")
    const { experiments } = processOf(documents, {
      first: { tool: "bake", versions: ["1.0.0", "9.0.0"] },
      second: { tool: "Bake", versions: ["1.0.0", "2.0.0"] },
      third: { tool: "nothing", versions: ["1", "2"] },
    })
    expect(experiments.list().map(({ name, problem }) => [name, problem])).toEqual([
      ["first", "Tool bake has no version 9.0.0. There is: 1.0.0, 2.0.0."],
      ["second", "The experiment 'first' is about the same tool."],
      ["third", "There is no tool 'nothing'."],
      ["bake-2", "The experiment 'first' is about the same tool."],
    ])
  })
})

describe("what the record says", () => {
  const [left, right] = ["1.0.0", "2.0.0"].map((version) => someAgents.find((id) => armFor({ ...trial, share: 0.5 }, id) === version)!) as [string, string] // prettier-ignore

  it("calls, failures and times are counted for each version, by agents that were given it", async () => {
    const call = (agentId: string, version: string, durationMs: number, code = "") => ({ agentId, version, durationMs, code, status: code === "" ? "success" : "error" }) // prettier-ignore
    const calls = [
      call(left, "1.0.0", 10),
      call(left, "1.0.0", 30, "timeout"),
      call(left, "1.0.0", 2, "permission_denied"),
      call(right, "2.0.0", 5),
      call(right, "2.0.0", 1),
      call(right, "2.0.0", 3),
      call(right, "1.0.0", 500),
      call(left, "3.0.0", 500),
    ]
    const { again } = await openDocuments()
    const { experiments, asked } = processOf(again(), {}, calls)
    await experiments.start(trial, "ann")
    expect(await experiments.show("bake-2")).toMatchObject({
      state: "running",
      arms: [
        { version: "1.0.0", agents: 1, calls: 2, failures: 1, refused: 1, averageMs: 20, medianMs: 10, slowestMs: 30 },
        { version: "2.0.0", agents: 1, calls: 3, failures: 0, refused: 0, averageMs: 3, medianMs: 3, slowestMs: 5 },
      ],
      otherwise: 1,
    })
    expect(await experiments.show("nothing")).toBeUndefined()
    await experiments.stop("bake-2", "ann")
    await experiments.show("bake-2", { since: 5 })
    await experiments.show("bake-2", { since: 5000, until: 6000 })
    expect(asked).toEqual([
      { tool: "bake", since: 1000 },
      { tool: "bake", since: 1000, until: 1001 },
      { tool: "bake", since: 5000, until: 1001 },
    ])
  })

  it("an experiment nobody has called yet has no times", async () => {
    const { again } = await openDocuments()
    const { experiments } = processOf(again(), { written: { tool: "bake", versions: ["1.0.0", "2.0.0"] } })
    const none = { agents: 0, calls: 0, failures: 0, refused: 0, averageMs: null, medianMs: null, slowestMs: null }
    expect((await experiments.show("written"))?.arms).toMatchObject([none, none])
  })

  it("the arm is in the record as the version, also after a restart", async () => {
    const dir = temporaryFolder()
    const config = { data: { dir }, org: { roles: [{ name: "baker" }], agents: [left, right].map((id) => ({ id, role: "baker" })) } } // prettier-ignore
    const bake = (version: string) => tool({ name: "bake", version, input: z.object({ burn: z.boolean().default(false) }) as never, execute: ({ burn }: { burn: boolean }) => { if (burn) throw new Error("Burnt."); return version } }) // prettier-ignore
    const first = await openTestApp(config)
    first.registry.registerMany([bake("1.0.0"), bake("2.0.0")])
    for (const [agentId, version] of [[left, "1.0.0"], [right, "2.0.0"], [right, "1.0.0"]] as const) await first.call({ agentId, tool: `bake@${version}`, input: {} }) // prettier-ignore
    await first.call({ agentId: right, tool: "bake@2.0.0", input: { burn: true } })
    await first.close()
    const second = await openTestApp(config)
    const { again } = await openDocuments()
    const experiments = openExperiments(
      { [trial.name]: { tool: "bake", versions: trial.versions } },
      {
        documents: again(),
        versionsOf: () => ["1.0.0", "2.0.0"],
        canonical: (name) => name,
        toolNames: () => [],
        audit: second.audit,
        now: Date.now,
      },
    )
    expect(await experiments.show(trial.name)).toMatchObject({
      arms: [
        { calls: 1, failures: 0 },
        { calls: 2, failures: 1 },
      ],
      otherwise: 1,
    })
  })
})
