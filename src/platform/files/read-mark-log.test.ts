import { execFileSync } from "node:child_process"
import { appendFileSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { ReadMark } from "./file-access.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openReadMarkLog } from "./read-mark-log.ts"

const mark = (real: string, version = "1"): ReadMark => ({ agentId: "ann", real, version, at: 1 })
const never = { batchMs: 1_000_000 }

test("what one process adds another finds, once, in the order it was added", () => {
  const path = join(temporaryFolder(), "marks")
  const [one, other] = [openReadMarkLog(path, never), openReadMarkLog(path, never)]
  expect([...other.readNew()]).toEqual([])
  one.add(mark("/a"))
  one.add(mark("/a", "2"))
  one.close()
  expect([...other.readNew()]).toEqual([mark("/a"), mark("/a", "2")])
  expect([...other.readNew()]).toEqual([])
  one.add(mark("/after close"))
  expect([...other.readNew()]).toEqual([mark("/after close")])
  expect([...openReadMarkLog(path).readNew()]).toHaveLength(3)
})

test("a process sees its own marks before they are written", () => {
  const log = openReadMarkLog(join(temporaryFolder(), "marks"), never)
  log.add(mark("/a"))
  expect([...log.readNew()]).toEqual([mark("/a")])
})

test("a half-written mark spoils no other mark", () => {
  const path = join(temporaryFolder(), "marks")
  writeFileSync(path, '[1,"ann","1","/whole"]\n[1,"ann","1","/ha')
  const log = openReadMarkLog(path, never)
  expect([...log.readNew()]).toEqual([mark("/whole")])
  log.add(mark("/next"))
  log.close()
  expect([...log.readNew()]).toEqual([mark("/next")])
  appendFileSync(path, '\n7\n{}\n[1,2,"x","y"]\nnull\n')
  expect([...log.readNew()]).toEqual([])
})

test("the file stays within its limit, keeps the newest marks, and other processes read on", () => {
  const path = join(temporaryFolder(), "marks")
  const log = openReadMarkLog(path, { ...never, maxBytes: 1000 })
  const other = openReadMarkLog(path, never)
  for (let at = 0; at < 200; at++) {
    log.add(mark(`/${at}`))
    log.close()
    expect(statSync(path).size).toBeLessThanOrEqual(1000)
    expect([...other.readNew()].at(-1)).toEqual(mark(`/${at}`))
  }
  expect([...openReadMarkLog(path).readNew()].length).toBeGreaterThan(10)
})

test("if the file cannot be used, marks are forgotten and nothing else fails", () => {
  const dir = temporaryFolder()
  mkdirSync(join(dir, "folder"))
  writeFileSync(join(dir, "elsewhere"), "")
  symlinkSync(join(dir, "elsewhere"), join(dir, "link"))
  execFileSync("mkfifo", [join(dir, "pipe")])
  for (const name of ["folder", "link", "none/marks", "pipe"]) {
    const log = openReadMarkLog(join(dir, name), never)
    log.add(mark("/a"))
    expect([...log.readNew()], name).toEqual([])
  }
  expect(readFileSync(join(dir, "elsewhere"), "utf8")).toBe("")
})
