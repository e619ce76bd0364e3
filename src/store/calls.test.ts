import { onTestFinished } from "vitest"
import type { CallStore } from "../model/ports.ts"
import { silentLogger } from "../model/logger.ts"
import { dataFolder } from "../testing/open.ts"
import { callStoreContract } from "./calls.contract.ts"
import { openStore } from "./store.ts"

async function openTwo(): Promise<[CallStore, CallStore]> {
  const dataDir = await dataFolder()
  const stores = []
  for (const owner of ["one", "two"]) {
    const store = await openStore({ dataDir, owner, logger: silentLogger, writes: "direct" })
    onTestFinished(() => store.close())
    stores.push(store)
  }
  return [await stores[0]!.calls(), await stores[1]!.calls()]
}

/** Every answer late, and not in the order of the questions: what a store across a network is like. */
function faraway(store: CallStore): CallStore {
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>
      return async (...args: unknown[]) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
        const answer = await method.apply(target, args)
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
        return answer
      }
    },
  })
}

callStoreContract("embedded", openTwo)
callStoreContract("embedded, far away", async () => {
  const [one, two] = await openTwo()
  return [faraway(one), faraway(two)]
})
