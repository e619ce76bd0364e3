import { createHmac } from "node:crypto"
import { chmodSync, existsSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { openTestApp, temporaryFolder } from "../../testing/test-app.ts"
import { hmac, recordKeyFromText, loadRecordKey } from "./record-key.ts"

test("law: a seal is the standard HMAC-SHA256 of the key's text", () => {
  const key = fc.string({ unit: fc.constantFrom(..."0123456789abcdef".split("")), minLength: 64, maxLength: 64 })
  fc.assert(
    fc.property(key, fc.string({ unit: "grapheme", maxLength: 300 }), (text, message) => {
      expect(hmac(recordKeyFromText(text), message)).toBe(
        createHmac("sha256", text).update(message).digest("base64url"),
      )
    }),
    { numRuns: 300 },
  )
})

test("the key is created once, readable only by its owner, and read again later", () => {
  const dir = temporaryFolder()
  const { text } = loadRecordKey(dir, () => false)
  expect(loadRecordKey(dir, () => false).text).toBe(text)
  expect(statSync(join(dir, "record.key")).mode & 0o777).toBe(0o600)
})

test("a damaged key, or one that others can read, is refused with the remedy", () => {
  const dir = temporaryFolder()
  writeFileSync(join(dir, "record.key"), "half", { mode: 0o600 })
  expect(() => loadRecordKey(dir, () => false)).toThrow("is damaged. Restore it from a backup")
  writeFileSync(join(dir, "record.key"), "a".repeat(64))
  chmodSync(join(dir, "record.key"), 0o644)
  expect(() => loadRecordKey(dir, () => false)).toThrow("chmod 600")
})

test.each(["journal", "direct"] as const)(
  "a folder with an audit log (%s) and without its key is refused with what that means, and works again with the key",
  async (writes) => {
    const first = await openTestApp({}, { writes })
    await first.call({ agentId: "operator", tool: "current_time", input: {} })
    await first.close()
    const data = { dir: first.dir }
    const [key, backup] = [join(first.dir, "record.key"), join(first.dir, "kept")]
    renameSync(key, backup)
    const refused = openTestApp({ data }, { writes })
    await expect(refused).rejects.toThrow(/record\.key is missing, and the folder has an audit log.*mv \S+ \S+\.old$/)
    expect(existsSync(key)).toBe(false)
    renameSync(backup, key)
    expect(await (await openTestApp({ data }, { writes })).audit.verify()).toMatchObject({ ok: true })
  },
)

test("a folder in which nothing was recorded gets a new key", async () => {
  const { dir, close } = await openTestApp()
  await close()
  rmSync(join(dir, "record.key"))
  await openTestApp({ data: { dir } })
  expect(existsSync(join(dir, "record.key"))).toBe(true)
})
