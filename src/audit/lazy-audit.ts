import type { Store } from "../store/sqlite/store.ts"
import type { AuditReader } from "./audit-reader.ts"

/** The audit log of a store, loaded on first use. */
export function lazyAudit({ database, key, journalDir }: Store): AuditReader {
  const audit = async () => new (await import("./audit.ts")).Audit(database, key, journalDir)
  return {
    list: async (filter) => (await audit()).list(filter),
    show: async (callId) => (await audit()).show(callId),
    showMany: async (callIds) => (await audit()).showMany(callIds),
    answers: async () => (await audit()).answers(),
    beginningWith: async (beginning) => (await audit()).beginningWith(beginning),
    stats: async (filter) => (await audit()).stats(filter),
    count: async (filter) => (await audit()).count(filter),
    hours: async (filter) => (await audit()).hours(filter),
    tools: async (filter, most) => (await audit()).tools(filter, most),
    waits: async (filter) => (await audit()).waits(filter),
    rules: async (since) => (await audit()).rules(since),
    verify: async (head) => (await audit()).verify(head),
    head: async () => (await audit()).head(),
    async *export(filter) {
      yield* (await audit()).export(filter)
    },
    drop: async (before, by) => (await audit()).drop(before, by),
  }
}
