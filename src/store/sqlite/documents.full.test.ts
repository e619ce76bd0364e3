import { onTestFinished } from "vitest"
import type { Documents } from "../../core/documents.ts"
import { databaseFile } from "../../testing/test-app.ts"
import { openDatabase } from "./database.ts"
import { documentsContract } from "../documents.contract.ts"
import { SqliteDocuments } from "./documents.ts"
import { openTwoDocuments } from "../testing/documents.ts"

/** Delays results and changes their order, as a store across a network would. */
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
documentsContract("embedded, looking for changes on a second connection", async () => {
  const file = await databaseFile()
  const openBusy = async () => {
    const [database, busy] = [await openDatabase(file), await openDatabase(file)]
    onTestFinished(() => [database, busy].forEach((each) => each.close()))
    return new SqliteDocuments(database, () => busy)
  }
  return [await openBusy(), await openBusy()]
})
documentsContract("embedded, far away", async () => {
  const [one, two] = await openTwoDocuments()
  return [faraway(one), faraway(two)]
})
