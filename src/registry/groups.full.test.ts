import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ToolGroupManager } from "./groups.ts"
import type { GroupResult, ToolDefinition, ToolGroupDefinition } from "./groups.ts"
import {
  toolDefinition,
  emptyGroups,
  nameOf,
  someGroupId,
  someToolName,
  someToolDefinitions,
  someGroupDefinition,
} from "./testing/groups.ts"

describe("single tools and changes", () => {
  it("a hundred thousand tools are added one by one and looked up in linear time", () => {
    let reads = 0
    const manager = emptyGroups()
    const count = 100_000
    const before = process.cpuUsage()
    const inTime = (index: number) =>
      index % 1000 > 0 || process.cpuUsage(before).user < 60_000_000 || expect.fail("This takes more than linear time.")
    for (let index = 0; index < count && inTime(index); index++) {
      const definition = toolDefinition("")
      Object.defineProperty(definition.function, "name", { get: () => (reads++, `tool_${index}`) })
      manager.addTool("big", definition)
    }
    expect(reads).toBe(count)
    let found = 0
    for (let index = 0; index < 2 * count && inTime(index); index++) {
      if (manager.isToolInGroups(`tool_${index}`, ["none", "big"]) && manager.getToolGroup(`tool_${index}`)) found++
    }
    expect(found).toBe(count)
    expect(reads).toBe(count)
  })
})

type Changes = Pick<
  ToolGroupManager,
  "registerGroup" | "unregisterGroup" | "updateGroupTools" | "addTool" | "removeTool"
>

/** The manager as one would write it without a thought for speed: one list of who defined what, and when. */
class NaiveGroups implements Changes {
  groups: { id: string; description: string; isReserved: boolean }[] = []
  entries: { id: string; name: string; definition: ToolDefinition; stamp: number }[] = []
  stamp = 0

  registerGroup(id: string, { description, tools: listed }: ToolGroupDefinition, isReserved = false): GroupResult {
    const known = this.groups.find((one) => one.id === id)
    if (known?.isReserved) return { ok: false, error: "reserved_group_id" }
    if (known === undefined) this.groups.push({ id, description, isReserved })
    else Object.assign(known, { description, isReserved })
    this.updateGroupTools(id, listed)
    return known === undefined ? { ok: true } : { ok: true, warning: "duplicate_group_id" }
  }
  unregisterGroup(id: string): GroupResult {
    const known = this.groups.find((one) => one.id === id)
    if (known === undefined) return { ok: false, error: "group_not_found" }
    if (known.isReserved) return { ok: false, error: "cannot_unregister_reserved" }
    this.groups = this.groups.filter((one) => one !== known)
    this.entries = this.entries.filter((one) => one.id !== id)
    return { ok: true }
  }
  updateGroupTools(id: string, listed: readonly ToolDefinition[]): GroupResult {
    if (!this.groups.some((one) => one.id === id)) return { ok: false, error: "group_not_found" }
    this.entries = this.entries.filter((one) => one.id !== id)
    for (const definition of listed) if (this.at(id, nameOf(definition)) === undefined) this.addTool(id, definition)
    return { ok: true }
  }
  addTool(id: string, definition: ToolDefinition): GroupResult {
    if (!this.groups.some((one) => one.id === id)) this.groups.push({ id, description: "", isReserved: false })
    const entry = { id, name: nameOf(definition), definition, stamp: this.stamp++ }
    const known = this.at(id, entry.name)
    if (known === undefined) this.entries.push(entry)
    else Object.assign(known, entry)
    return { ok: true }
  }
  removeTool(id: string, name: string): GroupResult {
    if (!this.groups.some((one) => one.id === id)) return { ok: false, error: "group_not_found" }
    const known = this.at(id, name)
    this.entries = this.entries.filter((one) => one !== known)
    return known === undefined ? { ok: false, error: "tool_not_found" } : { ok: true }
  }
  at(id: string, name: string) {
    return this.entries.find((one) => one.id === id && one.name === name)
  }
  owner(name: string): string | null {
    const owners = this.entries.filter((one) => one.name === name)
    return owners.toSorted((one, other) => one.stamp - other.stamp).at(-1)?.id ?? null
  }
  definitions(id: string): ToolDefinition[] {
    return this.entries.filter((one) => one.id === id).map((one) => one.definition)
  }
}

type Command = { text: string; run: (groups: Changes) => GroupResult }
const command = (text: string, run: Command["run"]): Command => ({ text, run })
const rarely = fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0)
const commands: fc.Arbitrary<Command> = fc.oneof(
  fc
    .tuple(someGroupId, someGroupDefinition, rarely)
    .map(([id, ...rest]) => command(`register ${id}`, (groups) => groups.registerGroup(id, ...rest))),
  someGroupId.map((id) => command(`unregister ${id}`, (groups) => groups.unregisterGroup(id))),
  fc
    .tuple(someGroupId, someToolDefinitions)
    .map(([id, all]) => command(`update ${id}`, (groups) => groups.updateGroupTools(id, all))),
  fc.tuple(someGroupId, someToolName, fc.string()).map(([id, name, description]) => {
    const definition = toolDefinition(name, description)
    return command(`add ${name} to ${id}`, (groups) => groups.addTool(id, definition))
  }),
  fc
    .tuple(someGroupId, someToolName)
    .map(([id, name]) => command(`remove ${name} from ${id}`, (groups) => groups.removeTool(id, name))),
)

function law<T>(title: string, arbitrary: fc.Arbitrary<T>, holds: (value: T) => void): void {
  it(title, () => {
    let runs = 0
    const property = fc.property(arbitrary, (value) => {
      runs++
      holds(value)
    })
    fc.assert(property, { numRuns: 200 })
    expect(runs).toBeGreaterThanOrEqual(100)
  })
}

describe("any history", () => {
  const histories = fc.array(commands, { maxLength: 30 })
  law("after any history the manager says what a naive one says", histories, (history) => {
    const manager = emptyGroups()
    const model = new NaiveGroups()
    for (const { text, run } of history) {
      const before = manager.version
      const result = run(manager)
      expect(result, text).toEqual(run(model))
      expect(manager.version - before, text).toBe(result.ok ? 1 : 0)
      expect(manager.getAllGroupIds()).toEqual(model.groups.map((one) => one.id))
      for (const { id, description, isReserved } of model.groups) {
        const kept = model.definitions(id)
        expect(manager.getGroup(id)).toMatchObject({ id, description, isReserved, toolCount: kept.length })
        expect(manager.getToolDefinitions([id])).toEqual(kept)
      }
      const names = new Set(model.entries.map((entry) => entry.name))
      expect(new Set(manager.getAllToolNames())).toEqual(names)
      for (const name of [...names, "missing"]) {
        expect(manager.getToolGroup(name), name).toBe(model.owner(name))
        const owners = model.groups.filter(({ id }) => manager.isToolInGroups(name, [id]))
        expect(owners).toEqual(model.groups.filter(({ id }) => model.at(id, name) !== undefined))
      }
    }
  })
})
