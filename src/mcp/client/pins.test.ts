import { expect, onTestFinished, test } from "vitest"
import { silentLogger } from "../../model/logger.ts"
import type { Documents } from "../../model/documents.ts"
import { ownerName } from "../../store/owner.ts"
import { openStore } from "../../store/store.ts"
import { dataFolder, open, temporaryFolder } from "../../testing/open.ts"
import { definition, toolbox } from "../testing/toolbox.ts"
import { changePins, differences, pinHash, readPins } from "./pins.ts"

const parts = { resources: false, prompts: false, completions: false }
const pin = (name: string) => ({ definition: definition(name), hash: name, warnings: [], by: "ann", at: 1 })

/** Two processes, as far as the store can tell. */
async function twice(): Promise<[Documents, Documents]> {
  const dataDir = await dataFolder()
  const one = async () => {
    const store = await openStore({ dataDir, owner: ownerName(), logger: silentLogger, writes: "direct" })
    onTestFinished(() => store.close())
    return store.documents
  }
  return [await one(), await one()]
}

test("nothing that somebody agreed to is lost when others agree to something at the same time", async () => {
  const both = await twice()
  const names = Array.from({ length: 12 }, (_, index) => `t${index}`)
  await Promise.all(
    names.map((name, index) =>
      changePins(both[index % 2]!, "box", "ann", (pins) => ({
        tools: new Map(pins?.tools).set(name, pin(name)),
        parts,
      })),
    ),
  )
  for (const documents of both) {
    await documents.refresh()
    expect([...readPins(documents, "box")!.tools.keys()].sort()).toEqual([...names].sort())
  }
})

test("of two first connections one is pinned, and the other is judged by it", async () => {
  const box = toolbox({ tools: [definition("echo")] })
  const other = toolbox({ tools: [definition("echo", { description: "Other." })] })
  const dir = temporaryFolder()
  const houses = await Promise.all(
    [box, other].map(({ command }) => open({ mcpServers: { box: command }, data: { dir } })),
  )
  await Promise.all(houses.map((house) => house.mcp.ready()))
  const states = houses.map((house) => house.mcp.pins().map(({ state }) => state))
  expect(states.flat().sort()).toEqual(["changed", "pinned"])
  await Promise.all(houses.map((house) => house.settle()))
  const notes = await houses[0]!.audit.show("pin:box")
  expect(notes).toMatchObject([{ by: "mcp:box", text: expect.stringMatching(/^pin made: /) }])
})

test("a tool may have any name, also one that no object can have as a key", async () => {
  const [documents, other] = await twice()
  const names = ["__proto__", "constructor", "", "a b", "\u{1f600}"]
  await changePins(documents, "box", "ann", () => ({ tools: new Map(names.map((name) => [name, pin(name)])), parts }))
  await other.refresh()
  expect([...readPins(other, "box")!.tools.keys()]).toEqual(names)
  expect(readPins(other, "another")).toBeUndefined()
})

test("a hash is of what a model reads and of nothing else, and differences are told by name", () => {
  const one = definition("t", { title: "T" })
  expect(pinHash({ ...one, icons: [{ src: "x" }], _meta: { a: 1 } })).toBe(pinHash(one))
  expect(pinHash({ ...one, inputSchema: { ...one.inputSchema, properties: { __proto__x: {} } } })).not.toBe(
    pinHash(one),
  )
  expect(differences(one, { ...one, description: "Other.", outputSchema: {} })).toEqual(["description", "outputSchema"])
})
