import { expect, test } from "vitest"
import type { FileFacts, ReadMark } from "../../platform/files/file-access.ts"
import { readMarks } from "./read-marks.ts"

const facts = (real: string, version: string) => ({ real, version }) as FileFacts

test("only the agent's own last read counts", () => {
  const marks = readMarks()
  marks.markRead("ann", facts("/a", "1"))
  expect(marks.isStale("ann", facts("/a", "2"))).toBe(true)
  expect(marks.isStale("ann", facts("/a", "1"))).toBe(false)
  expect(marks.isStale("ann", facts("/b", "2"))).toBe(false)
  expect(marks.isStale("bob", facts("/a", "2"))).toBe(false)
  marks.markRead("ann", facts("/a", "2"))
  expect(marks.isStale("ann", facts("/a", "2"))).toBe(false)
})

test("the number of marks is limited, and the oldest are dropped first", () => {
  const marks = readMarks(undefined, 3)
  for (const name of ["/a", "/b", "/c"]) marks.markRead("ann", facts(name, "1"))
  marks.markRead("ann", facts("/a", "2"))
  marks.markRead("ann", facts("/d", "1"))
  const known = ["/a", "/b", "/c", "/d"].filter((name) => marks.isStale("ann", facts(name, "9")))
  expect(known).toEqual(["/a", "/c", "/d"])
})

test("later marks of other processes count, and earlier ones do not", () => {
  const now = Date.now()
  const others: ReadMark[] = [
    { agentId: "ann", real: "/a", version: "1", at: now - 1000 },
    { agentId: "ann", real: "/b", version: "2", at: now + 1000 },
  ]
  const added: ReadMark[] = []
  const marks = readMarks({ add: (mark) => added.push(mark), readNew: () => others.splice(0) })
  marks.markRead("ann", facts("/a", "2"))
  marks.markRead("ann", facts("/b", "1"))
  marks.markRead("ann", facts("/b", "1"))
  expect(added).toMatchObject([
    { agentId: "ann", real: "/a", version: "2" },
    { agentId: "ann", real: "/b", version: "1" },
  ])
  expect(marks.isStale("ann", facts("/a", "2"))).toBe(false)
  expect(marks.isStale("ann", facts("/b", "2"))).toBe(false)
  expect(marks.isStale("ann", facts("/b", "1"))).toBe(true)
})
