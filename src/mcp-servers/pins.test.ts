import { expect, onTestFinished, test } from "vitest"
import { silentLogger } from "../core/logger.ts"
import type { Documents } from "../core/documents.ts"
import { newOwnerName } from "../store/sqlite/owner.ts"
import { openStore } from "../store/sqlite/store.ts"
import { dataFolder, openTestApp, temporaryFolder } from "../testing/test-app.ts"
import { definition, toolbox } from "../testing/mcp/toolbox.ts"
import { changePins, differences, pinHash, readPins } from "./pins.ts"

const parts = { resources: false, prompts: false, completions: false }
const pin = (name: string) => ({ definition: definition(name), hash: name, warnings: [], by: "ann", at: 1 })

/** Opens a store twice, as two processes do. */
async function openTwoStores(): Promise<[Documents, Documents]> {
  const dataDir = await dataFolder()
  const openOne = async () => {
    const store = await openStore({ dataDir, owner: newOwnerName(), logger: silentLogger, writes: "direct" })
    onTestFinished(() => store.close())
    return store.documents
  }
  return [await openOne(), await openOne()]
}

test("no pin is lost when several people trust tools at the same time", async () => {
  const both = await openTwoStores()
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

test("of two first connections one is pinned, and the other is compared with it", async () => {
  const box = toolbox({ tools: [definition("echo")] })
  const other = toolbox({ tools: [definition("echo", { description: "Other." })] })
  const dir = temporaryFolder()
  const apps = await Promise.all(
    [box, other].map(({ command }) => openTestApp({ mcpServers: { box: command }, data: { dir } })),
  )
  await Promise.all(apps.map((app) => app.mcp.ready()))
  const states = apps.map((app) => app.mcp.pins().map(({ state }) => state))
  expect(states.flat().sort()).toEqual(["changed", "pinned"])
  await Promise.all(apps.map((app) => app.settle()))
  const notes = await apps[0]!.audit.show("pin:box")
  expect(notes).toMatchObject([{ by: "mcp:box", text: expect.stringMatching(/^pin made: /) }])
})

test("a tool may have any name, even one that cannot be an object key", async () => {
  const [documents, other] = await openTwoStores()
  const names = ["__proto__", "constructor", "", "a b", "\u{1f600}"]
  await changePins(documents, "box", "ann", () => ({ tools: new Map(names.map((name) => [name, pin(name)])), parts }))
  await other.refresh()
  expect([...readPins(other, "box")!.tools.keys()]).toEqual(names)
  expect(readPins(other, "another")).toBeUndefined()
})

test("the hash covers only what a model reads, and differences are field names", () => {
  const openOne = definition("t", { title: "T" })
  expect(pinHash({ ...openOne, icons: [{ src: "x" }], _meta: { a: 1 } })).toBe(pinHash(openOne))
  expect(pinHash({ ...openOne, inputSchema: { ...openOne.inputSchema, properties: { __proto__x: {} } } })).not.toBe(
    pinHash(openOne),
  )
  expect(differences(openOne, { ...openOne, description: "Other.", outputSchema: {} })).toEqual([
    "description",
    "outputSchema",
  ])
})
