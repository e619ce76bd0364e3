import { execFileSync } from "node:child_process"
import { appendFileSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { ReadMark } from "../../model/files.ts"
import { temporaryFolder } from "../../testing/open.ts"
import { openMarkLog } from "./mark-log.ts"

const mark = (real: string, version = "1"): ReadMark => ({ agentId: "ann", real, version, at: 1 })
const never = { batchMs: 1_000_000 }

test("what one process adds another finds, once, in the order it was added", () => {
  const path = join(temporaryFolder(), "marks")
  const [one, other] = [openMarkLog(path, never), openMarkLog(path, never)]
  expect([...other.news()]).toEqual([])
  one.add(mark("/a"))
  one.add(mark("/a", "2"))
  one.close()
  expect([...other.news()]).toEqual([mark("/a"), mark("/a", "2")])
  expect([...other.news()]).toEqual([])
  one.add(mark("/after close"))
  expect([...other.news()]).toEqual([mark("/after close")])
  expect([...openMarkLog(path).news()]).toHaveLength(3)
})

test("what waits to be written is not missed by whoever added it", () => {
  const log = openMarkLog(join(temporaryFolder(), "marks"), never)
  log.add(mark("/a"))
  expect([...log.news()]).toEqual([mark("/a")])
})

test("what was left half written spoils no other mark", () => {
  const path = join(temporaryFolder(), "marks")
  writeFileSync(path, '[1,"ann","1","/whole"]\n[1,"ann","1","/ha')
  const log = openMarkLog(path, never)
  expect([...log.news()]).toEqual([mark("/whole")])
  log.add(mark("/next"))
  log.close()
  expect([...log.news()]).toEqual([mark("/next")])
  appendFileSync(path, '\n7\n{}\n[1,2,"x","y"]\nnull\n')
  expect([...log.news()]).toEqual([])
})

test("it grows no larger than it may, what was seen last stays, and others read on", () => {
  const path = join(temporaryFolder(), "marks")
  const log = openMarkLog(path, { ...never, mostBytes: 1000 })
  const other = openMarkLog(path, never)
  for (let at = 0; at < 200; at++) {
    log.add(mark(`/${at}`))
    log.close()
    expect(statSync(path).size).toBeLessThanOrEqual(1000)
    expect([...other.news()].at(-1)).toEqual(mark(`/${at}`))
  }
  expect([...openMarkLog(path).news()].length).toBeGreaterThan(10)
})

test("a place that cannot be written to or read forgets, and nothing else", () => {
  const dir = temporaryFolder()
  mkdirSync(join(dir, "folder"))
  writeFileSync(join(dir, "elsewhere"), "")
  symlinkSync(join(dir, "elsewhere"), join(dir, "link"))
  execFileSync("mkfifo", [join(dir, "pipe")])
  for (const name of ["folder", "link", "none/marks", "pipe"]) {
    const log = openMarkLog(join(dir, name), never)
    log.add(mark("/a"))
    expect([...log.news()], name).toEqual([])
  }
  expect(readFileSync(join(dir, "elsewhere"), "utf8")).toBe("")
})

test("law: any text is found again as it was added", () => {
  const path = join(temporaryFolder(), "marks")
  const [one, other] = [openMarkLog(path, never), openMarkLog(path, never)]
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("a\nb", '"', "\\", "\0", "\r\n", "\u2028"))
  const anyMark = fc.record({ agentId: text, real: text, version: text, at: fc.nat() })
  fc.assert(
    fc.property(fc.array(anyMark), (marks) => {
      for (const each of marks) one.add(each)
      one.close()
      expect([...other.news()]).toEqual(marks)
    }),
    { numRuns: 100 },
  )
})
