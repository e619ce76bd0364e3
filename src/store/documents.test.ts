import { expect, onTestFinished, test } from "vitest"
import type { Documents } from "../model/documents.ts"
import { databaseFile } from "../testing/open.ts"
import { openDatabase } from "./database.ts"
import { documentsContract } from "./documents.contract.ts"
import { SqliteDocuments } from "./documents.ts"

async function openOn(file: string): Promise<SqliteDocuments> {
  const database = await openDatabase(file)
  onTestFinished(() => database.close())
  return new SqliteDocuments(database)
}

async function openTwo(): Promise<[Documents, Documents]> {
  const file = await databaseFile()
  return [await openOn(file), await openOn(file)]
}

/** Every answer late, and not in the order of the questions: what a store across a network is like. */
function faraway(documents: Documents): Documents {
  const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
  return new Proxy(documents, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== "function") return value
      const method = value.bind(target) as (...args: unknown[]) => unknown
      if (name !== "put" && name !== "refresh") return method
      return async (...args: unknown[]) => {
        await pause()
        const answer = await method(...args)
        await pause()
        return answer
      }
    },
  })
}

documentsContract("embedded", openTwo)
documentsContract("embedded, far away", async () => {
  const [one, two] = await openTwo()
  return [faraway(one), faraway(two)]
})

test("documents are there after the file was closed and opened again", async () => {
  const file = await databaseFile()
  const database = await openDatabase(file)
  const before = new SqliteDocuments(database)
  await before.put({ kind: "person", id: "ann", body: { name: "Ann" } }, "ann")
  const { digest } = before
  const document = before.get("person", "ann")
  database.close()
  const after = await openOn(file)
  expect([after.get("person", "ann"), after.digest]).toEqual([document, digest])
})

test("a document is written before put resolves, and to the disk: the file's own grade is full", async () => {
  const database = await openDatabase(await databaseFile())
  onTestFinished(() => database.close())
  expect(database.prepare("pragma synchronous").get()).toEqual({ synchronous: 2 })
})

test("a put waits for another's lock instead of failing", async () => {
  const file = await databaseFile()
  const documents = await openOn(file)
  const other = await openDatabase(file)
  onTestFinished(() => other.close())
  other.exec("begin immediate")
  const put = documents.put({ kind: "mode", id: "s", body: {} }, "ann")
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(documents.get("mode", "s")).toBeUndefined()
  other.exec("commit")
  expect((await put).kept).toBe(true)
})
