import fc from "fast-check"
import { expect, test } from "vitest"
import { callInOrder, dependencyIndexes, type NeedsOf } from "./batch-order.ts"

const table =
  (needs: Readonly<Record<string, readonly string[]>>): NeedsOf =>
  ({ tool }) =>
    tool in needs ? { name: tool, needs: needs[tool]! } : undefined

const batch = (...tools: string[]) =>
  tools.map((written) => {
    const [tool = "", agentId = "ada"] = written.split(" of ")
    return { agentId, tool }
  })

const needs = { dig: [], plant: ["dig"], water: ["plant"], eat: [], chicken: ["egg"], egg: ["chicken"] }

test.each([
  ["nothing depends on anything", ["eat", "dig"], [[], []]],
  ["what is needed stands first", ["dig", "plant"], [[], [0]]],
  ["what is needed stands last", ["plant", "dig"], [[1], []]],
  ["what is needed is called twice", ["dig", "plant", "dig"], [[], [0, 2], []]],
  ["it is needed by way of a tool that is not in the batch", ["water", "dig"], [[1], []]],
  ["the whole chain is there", ["water", "plant", "dig"], [[1, 2], [2], []]],
  ["what is needed is called by another agent", ["plant", "dig of bob"], [[], []]],
  ["a tool is not known", ["plant", "nothing", "dig"], [[2], [], []]],
  ["two need each other", ["chicken", "egg"], [[], []]],
  ["the same tool is called twice", ["plant", "plant"], [[], []]],
])("in a batch where %s, each call knows what it runs after", (_, tools, expected) => {
  expect(dependencyIndexes(batch(...tools), table(needs))).toEqual(expected)
})

test("law: a call begins when all it needs have ended, whatever the order and whatever failed; results keep their places", async () => {
  const names = ["a", "b", "c", "d", "e"]
  const someNeeds = fc.array(fc.subarray(names), { minLength: 5, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(someNeeds, fc.array(fc.constantFrom(...names), { maxLength: 8 }), async (given, tools) => {
      // A tool needs only later names, so that there is no circle.
      const of = Object.fromEntries(
        names.map((name, at) => [name, given[at]!.filter((need) => names.indexOf(need) > at)]),
      )
      const ended = new Set<string>()
      const requests = tools.map((tool, position) => ({ agentId: "ada", tool, position }))
      const results = await callInOrder(dependencyIndexes(requests, table(of)), async (position) => {
        const { tool } = requests[position]!
        for (const { tool: other, position: at } of requests) {
          if (of[tool]!.includes(other)) expect(ended).toContain(`${other} ${at}`)
        }
        await Promise.resolve()
        ended.add(`${tool} ${position}`)
        return position
      })
      expect(results).toEqual(requests.map(({ position }) => position))
    }),
    { numRuns: 200 },
  )
})

test("a failed call does not keep the one after it from running", async () => {
  const ran: string[] = []
  const requests = batch("plant", "dig")
  const calls = callInOrder(dependencyIndexes(requests, table(needs)), async (position) => {
    const { tool } = requests[position]!
    ran.push(tool)
    if (tool === "dig") throw new Error("Too hard.")
  })
  await expect(calls).rejects.toThrow("Too hard.")
  await expect.poll(() => ran).toEqual(["dig", "plant"])
})
