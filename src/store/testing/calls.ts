import { onTestFinished } from "vitest"
import type { CallStore } from "../port.ts"
import { silentLogger } from "../../core/logger.ts"
import { dataFolder } from "../../testing/test-app.ts"
import { openStore } from "../sqlite/store.ts"

export async function openTwoCallStores(): Promise<[CallStore, CallStore]> {
  const dataDir = await dataFolder()
  const stores = []
  for (const owner of ["one", "two"]) {
    const store = await openStore({ dataDir, owner, logger: silentLogger, writes: "direct" })
    onTestFinished(() => store.close())
    stores.push(store)
  }
  return [await stores[0]!.calls(), await stores[1]!.calls()]
}
