import { createHmac } from "node:crypto"
import { chmodSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { temporaryFolder } from "../testing/test-app.ts"
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
  const { text } = loadRecordKey(dir)
  expect(loadRecordKey(dir).text).toBe(text)
  expect(statSync(join(dir, "record.key")).mode & 0o777).toBe(0o600)
})

test("a damaged key, or one that others can read, is refused with the remedy", () => {
  const dir = temporaryFolder()
  writeFileSync(join(dir, "record.key"), "half", { mode: 0o600 })
  expect(() => loadRecordKey(dir)).toThrow("is damaged. Restore it from a backup")
  writeFileSync(join(dir, "record.key"), "a".repeat(64))
  chmodSync(join(dir, "record.key"), 0o644)
  expect(() => loadRecordKey(dir)).toThrow("chmod 600")
})
