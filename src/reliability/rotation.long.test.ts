import { after, before, inMain, inMover, testPlaces, type Spot, type Walk } from "./testing/places.ts"

const opened: Spot = { on: "open", match: /\.log$/ }
const removed: Spot = { on: "remove", match: /\.log$/ }

/** Entries that fill a journal's first file, so that it goes on in a second one. */
function filling(): Walk {
  const entries = [
    ["first", 1],
    ["large", 64],
    ["last", 1],
  ] as const
  let kept: string[] = []
  return {
    isQuiet: true,
    isFresh: true,
    async walk(house) {
      kept = []
      for (const [entry, megabytes] of entries) {
        await house.keep(entry, megabytes)
        if (megabytes === 1) kept.push(entry)
      }
      await house.ended
    },
    async look(house, { problems }) {
      for (const entry of kept) {
        const found = await house.app.audit.show(entry)
        if (found.length !== 1) problems.push(`${entry} was told as kept, but the record has it ${found.length} times.`)
      }
    },
  }
}

testPlaces([
  ["before a full journal goes on in a new file", filling(), inMain(before(opened)), [2]],
  ["after a full journal went on in a new file", filling(), inMain(after(opened)), [2]],
  ["before a file that was moved whole is removed", filling(), inMover(before(removed)), [1]],
])
