import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, truncateSync, unlinkSync, utimesSync, writeFileSync } from "node:fs" // prettier-ignore
import { join } from "node:path"
import { expect, test } from "vitest"
import { ContentCache } from "./content-cache.ts"
import { openTestFiles, refusalCode } from "./testing.ts"

/** Files whose clock is ahead, so that what was just written counts as settled. */
function openSettled(maxBytes?: number) {
  const contents = new ContentCache({ maxBytes, now: () => Date.now() + 60_000 })
  const opened = openTestFiles({ contents })
  const small = (path: string) => opened.files.readSmall(path, 100_000_000)?.bytes.toString()
  const whole = async (path: string) => {
    const file = await opened.files.open(path)
    try {
      return (await file.readAll(100_000_000)).toString()
    } finally {
      await file.close()
    }
  }
  return { ...opened, contents, small, whole }
}

/** Returns the number of bytes this process has read by system calls. */
const readSoFar = () => Number(/^rchar: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))![1])

test.runIf(existsSync("/proc/self/io"))("a file that did not change is not read from the disk again", async () => {
  const { put, small, whole, contents } = openSettled()
  const text = "x".repeat(4_000_000)
  put("a.txt", text)
  for (const read of [small, whole]) {
    expect(await read("a.txt")).toBe(text)
    const before = readSoFar()
    expect(await read("a.txt")).toBe(text)
    expect(readSoFar() - before).toBeLessThan(1_000_000)
  }
  expect(contents.bytes).toBeGreaterThanOrEqual(text.length)
})

test("every change of a file is seen: its content, its size, its times, another file by the same name", async () => {
  const { put, files, workspace, small, whole } = openSettled()
  const path = put("a.txt", "one")
  const changes: [string, () => unknown][] = [
    ["two", () => writeFileSync(path, "two")],
    ["twomore", () => appendFileSync(path, "more")],
    ["t", () => truncateSync(path, 1)],
    ["new", () => renameSync(put("b.txt", "new"), path)],
    ["ours", () => files.write("a.txt", Buffer.from("ours"))],
    ["olds", () => { writeFileSync(path, "olds"); utimesSync(path, 1, 1) }],
    ["news", () => { writeFileSync(path, "news"); utimesSync(path, 1, 1) }],
    ["linked", () => { put("c.txt", "linked"); unlinkSync(path); symlinkSync("c.txt", join(workspace, "a.txt")) }],
  ] // prettier-ignore
  for (const [text, change] of changes) {
    expect([small("a.txt"), await whole("a.txt")]).toHaveLength(2)
    await change()
    expect([text, small("a.txt"), await whole("a.txt")]).toEqual([text, text, text])
  }
})

test("what was written in the last two seconds is not kept, because the next write may leave the same times", async () => {
  let now = Date.now()
  const contents = new ContentCache({ now: () => now })
  const { files, put } = openTestFiles({ contents })
  put("a.txt", "fresh")
  expect(files.readSmall("a.txt", 100)!.bytes.toString()).toBe("fresh")
  now += 1000
  files.readSmall("a.txt", 100)
  expect(contents.bytes).toBe(0)
  now += 60_000
  files.readSmall("a.txt", 100)
  expect(contents.bytes).toBeGreaterThan(0)
})

test("a file that is written to while it is read is not kept", async () => {
  const { put, files, contents } = openSettled()
  const path = put("a.txt", "before")
  const file = await files.open("a.txt")
  const reading = file.readAll(100)
  appendFileSync(path, " after")
  await reading
  await file.close()
  expect(contents.bytes).toBe(0)
})

test("what one reader does to its bytes, another does not see", () => {
  const { put, files } = openSettled()
  put("a.txt", "clean")
  for (let at = 0; at < 3; at++) {
    const { bytes } = files.readSmall("a.txt", 100)!
    expect(bytes.toString()).toBe("clean")
    bytes.fill(0)
  }
})

test("together the contents stay below the limit, and what was used longest ago goes first", () => {
  const { put, small, contents } = openSettled(40_000)
  for (const name of ["a", "b", "c", "d"]) put(name, name.repeat(10_000))
  for (const name of ["a", "b", "c", "a", "d"]) small(name)
  expect(contents.bytes).toBeLessThanOrEqual(40_000)
  const before = contents.bytes
  small("a")
  expect(contents.bytes).toBe(before)
  put("large", "x".repeat(50_000))
  expect(small("large")).toHaveLength(50_000)
  expect(contents.bytes).toBe(before)
})

test("many small files stay below the limit too", () => {
  const { put, small, contents } = openSettled(10_000)
  for (let at = 0; at < 200; at++) {
    put(`f${at}`, "")
    small(`f${at}`)
  }
  expect(contents.bytes).toBeGreaterThan(0)
  expect(contents.bytes).toBeLessThanOrEqual(10_000)
})

test("whoever may not read a file does not get it from memory either, and a smaller limit still holds", async () => {
  const { put, files, outside, workspace } = openSettled()
  put("a/x.txt", "text")
  mkdirSync(join(workspace, "b"))
  expect(files.readSmall("a/x.txt", 100)!.bytes.toString()).toBe("text")
  expect(await refusalCode(() => files.within(["b"]).readSmall("a/x.txt", 100))).toBe("outside")
  expect(files.readSmall("a/x.txt", 3)).toBeUndefined()
  expect(await refusalCode(async () => (await files.open("a/x.txt")).readAll(3))).toBe("too_large")
  renameSync(join(workspace, "a"), join(outside, "a"))
  symlinkSync(join(outside, "a"), join(workspace, "a"))
  expect(await refusalCode(() => files.readSmall("a/x.txt", 100))).toBe("outside")
  expect(await refusalCode(() => files.open("a/x.txt"))).toBe("outside")
})
