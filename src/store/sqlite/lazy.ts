import type { CallStore } from "../port.ts"
import type { Store } from "./store.ts"

/** The calls table, opened on first use. Before this process owns a row, its heartbeat begins. */
export function lazyCalls(store: Store): CallStore {
  return {
    insert: async (row, maxWaiting) => {
      await store.leases.begin()
      return (await store.calls()).insert(row, maxWaiting)
    },
    countWaiting: async (filter) => (await store.calls()).countWaiting(filter),
    get: async (id) => (await store.calls()).get(id),
    swap: async (id, expected, change) => {
      if (change.owner !== undefined && change.owner !== "") await store.leases.begin()
      return (await store.calls()).swap(id, expected, change)
    },
    recordAnswer: async (id, expected, result) => (await store.calls()).recordAnswer(id, expected, result),
    list: async (filter) => (await store.calls()).list(filter),
    changesSince: async (cursor) => (await store.calls()).changesSince(cursor),
    waitForChange: async (id, milliseconds, signals) => (await store.calls()).waitForChange(id, milliseconds, signals),
    erase: async (olderThan) => (await store.calls()).erase(olderThan),
    clock: async () => (await store.calls()).clock(),
  }
}

/**
 * Reports whether a call has not ended, or ended before this time. When none has, the calls table need not be opened.
 */
export function hasCallsLeft({ database }: Store, endedBefore: number): boolean {
  const left = "select 1 from calls where state <> 'ended' or updated_at < ? limit 1"
  return database.prepare(left).get(endedBefore) !== undefined
}
