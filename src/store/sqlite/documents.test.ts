import { expect, onTestFinished, test } from "vitest"
import { databaseFile } from "../../testing/test-app.ts"
import { disk, openDatabase } from "./database.ts"
import { documentsContract } from "../documents.contract.ts"
import { SqliteDocuments } from "./documents.ts"
import { openTwoDocuments, openDocumentsOn } from "../testing/documents.ts"

documentsContract("embedded", openTwoDocuments)

test("documents are still stored after the file is closed and opened again", async () => {
  const file = await databaseFile()
  const database = await openDatabase(file)
  const before = new SqliteDocuments(database)
  await before.put({ kind: "person", id: "ann", body: { name: "Ann" } }, "ann")
  const { digest } = before
  const document = before.get("person", "ann")
  database.close()
  const after = await openDocumentsOn(file)
  expect([after.get("person", "ann"), after.digest]).toEqual([document, digest])
})

test("no change of another process is missed when the second connection is opened or closed in between", async () => {
  const file = await databaseFile()
  const database = await openDatabase(file)
  const busy = await openDatabase(file)
  onTestFinished(() => [database, busy].forEach((each) => each.close()))
  let busiest: typeof busy | undefined
  const here = new SqliteDocuments(database, () => busiest)
  const there = await openDocumentsOn(file)
  for (const [index, next] of [busy, undefined, busy, busy].entries()) {
    await there.put({ kind: "person", id: `p${index}`, body: {} }, "ann")
    busiest = next
    expect(await here.refresh()).toBe(true)
    expect(await here.refresh()).toBe(false)
    expect(here.get("person", `p${index}`)).toBeDefined()
  }
})

test("a document is synced to the disk before put resolves", async () => {
  disk.syncs = true
  onTestFinished(() => void (disk.syncs = false))
  const database = await openDatabase(await databaseFile())
  onTestFinished(() => database.close())
  expect(database.prepare("pragma synchronous").get()).toEqual({ synchronous: 2 })
})

test("a put waits for another process's lock instead of failing", async () => {
  const file = await databaseFile()
  const documents = await openDocumentsOn(file)
  const other = await openDatabase(file)
  onTestFinished(() => other.close())
  other.exec("begin immediate")
  const put = documents.put({ kind: "mode", id: "s", body: {} }, "ann")
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(documents.get("mode", "s")).toBeUndefined()
  other.exec("commit")
  expect((await put).written).toBe(true)
})
