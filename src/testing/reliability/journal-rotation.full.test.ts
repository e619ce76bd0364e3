import {
  after,
  before,
  inMainThread,
  inMoverThread,
  testKillPlaces,
  type WatchedOperation,
  type Workload,
} from "./kill-places.ts"

const opened: WatchedOperation = { on: "open", match: /\.log$/ }
const removed: WatchedOperation = { on: "remove", match: /\.log$/ }

/** Writes entries that fill a journal's first file, so that it continues in a second one. */
function filling(): Workload {
  const entries = [
    ["first", 1],
    ["large", 64],
    ["last", 1],
  ] as const
  let acknowledged: string[] = []
  return {
    isQuiet: true,
    isFresh: true,
    async work(child) {
      acknowledged = []
      for (const [entry, megabytes] of entries) {
        await child.writeNote(entry, megabytes)
        if (megabytes === 1) acknowledged.push(entry)
      }
      await child.ended
    },
    async check(child, { problems }) {
      for (const entry of acknowledged) {
        const found = await child.app.audit.show(entry)
        if (found.length !== 1)
          problems.push(`${entry} was acknowledged, but the audit log has it ${found.length} times.`)
      }
    },
  }
}

testKillPlaces([
  ["before a full journal continues in a new file", filling(), inMainThread(before(opened)), [2]],
  ["after a full journal continued in a new file", filling(), inMainThread(after(opened)), [2]],
  ["before a file whose lines were all moved is removed", filling(), inMoverThread(before(removed)), [1]],
])
