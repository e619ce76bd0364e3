import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../../../testing/test-app.ts"
import { InputHistory } from "./history.ts"

test("what was typed is kept across starts, in a file that only its owner can read", () => {
  const dir = temporaryFolder()
  const first = new InputHistory(dir)
  for (const text of ["one", "two\nlines", "two\nlines"]) first.add(text)
  expect(new InputHistory(dir).entries).toEqual(["one", "two\nlines"])
  expect(statSync(join(dir, "chat-history")).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(dir, "chat-history"), "utf8")).toBe('"one"\n"two\\nlines"\n')
})

test("two chats at once lose nothing, and a line that cannot be read is left out", () => {
  const dir = temporaryFolder()
  const chats = [new InputHistory(dir), new InputHistory(dir)]
  chats[0]!.add("one")
  chats[1]!.add("two")
  expect(chats[1]!.entries).toEqual(["one", "two"])
  writeFileSync(join(dir, "chat-history"), 'broken\n"good"\n')
  expect(new InputHistory(dir).entries).toEqual(["good"])
})
