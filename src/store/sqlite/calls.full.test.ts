import type { CallStore } from "../port.ts"
import { callStoreContract } from "../calls.contract.ts"
import { openTwoCallStores } from "../testing/calls.ts"

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
callStoreContract("embedded, far away", async () => {
  const [one, two] = await openTwoCallStores()
  return [faraway(one), faraway(two)]
})
