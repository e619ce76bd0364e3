import { expect, test } from "vitest"
import { openTestApp, openTestApps } from "../testing/test-app.ts"
import { followChanges } from "./change-feed.ts"

test("a change by another process wakes whoever follows, and the feed says what it was", async () => {
  const { openApp } = await openTestApps()
  const [mine, theirs] = [await openApp(), await openApp()]
  const cursor = await mine.changes.latest()
  const news = followChanges(mine.changes)
  await news.next()
  const told = news.next()
  await theirs.org.createPerson({ id: "sue" }, { kind: "person", id: "pat" })
  await told
  news.stop()
  const { changes } = (await mine.changes.since(cursor))!
  expect(changes).toContainEqual({ type: "document", kind: "person", id: "sue" })
})

test("a change between two waits ends the second at once", async () => {
  let tell: () => void = () => {}
  const news = followChanges({ listen: (listener) => ((tell = listener), () => {}) })
  tell()
  await news.next()
  const waits = news.next().then(() => "woken")
  expect(await Promise.race([waits, Promise.resolve("waiting")])).toBe("waiting")
  tell()
  expect(await waits).toBe("woken")
})

test("a wait ends when its signal aborts, and so does every later one", async () => {
  const controller = new AbortController()
  const news = followChanges({ listen: () => () => {} }, controller.signal)
  const waits = news.next()
  controller.abort()
  await waits
  await news.next()
})

test.each(["", "none", Buffer.from("[1]").toString("base64url")])("'%s' is no cursor", async (cursor) => {
  const app = await openTestApp()
  expect(await app.changes.since(cursor)).toBeUndefined()
})
