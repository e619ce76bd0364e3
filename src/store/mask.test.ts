import fc from "fast-check"
import { expect, test } from "vitest"
import { keyOf } from "./key.ts"
import { masker } from "./mask.ts"

const { mask, text } = masker(keyOf("ab".repeat(32)))

const secrets: [string, unknown, string][] = [
  ["a password by its name", { password: "hunter2" }, "hunter2"],
  ["a token by its name, in any spelling", { accessToken: "abcdef" }, "abcdef"],
  ["an api key by its name", { API_KEY: "abcdef" }, "abcdef"],
  ["a secret in a list under its name", { secrets: ["abcdef", "ghijkl"] }, "ghijkl"],
  ["a secret deep inside", { a: [{ b: { client_secret: "abcdef" } }] }, "abcdef"],
  ["a variable that names its secret", { key: "DB_PASSWORD", value: "abcdef" }, "abcdef"],
  ["a variable whose name only hints", { key: "MYSQL_PWD", value: "abcdef" }, "abcdef"],
  ["an access key in camel case", { openaiKey: "abcdef" }, "abcdef"],
  ["an OpenAI key", { note: "use sk-proj-abcdefghijklmnop1234 now" }, "abcdefghijklmnop"],
  ["a GitHub token", "ghp_abcdefghijklmnopqrstuvwxyz012345", "abcdefghij"],
  ["a JWT", { text: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl" }, "eyJzdWIi"],
  ["a PEM key", "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "MIIabc"],
  ["a PEM key without its end", `-----BEGIN PRIVATE KEY-----\nMIIabc`, "MIIabc"],
  ["a connection string's password", { url: "postgres://user:pa55w0rd@db.example/x" }, "pa55w0rd"],
  ["a bearer header", { header: "Authorization: Bearer abcdefghijklmnop" }, "abcdefghijklmnop"],
  ["an object under a secret name", { credentials: { user: "ann", word: "abcdef" } }, "abcdef"],
  ["JSON in a text", { text: '{"password":"abcdef"}' }, "abcdef"],
  ["a query with a token", { url: "https://example.com/?access_token=abcdef&x=1" }, "abcdef"],
  ["basic authorization", "Authorization: Basic YWJjZGVmZ2g=", "YWJjZGVm"],
  ["a header and its value", [["Authorization", "abcdef"]], "abcdef"],
  ["a named value", { name: "password", value: "abcdef" }, "abcdef"],
  ["a token as a name", { ghp_abcdefghijklmnopqrstuvwxyz012345: 1 }, "abcdefghij"],
  ["an AWS key", "AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"],
]

test.each(secrets)("%s is masked, and the whole is remembered by a digest only", (_what, value, secret) => {
  const masked = mask(value)
  expect(masked.text).not.toContain(secret)
  expect(masked.text).toContain("***")
  expect(masked.digest).toMatch(/^[\w-]{22}$/)
})

test("a password beside a very long text is masked too", () => {
  const masked = mask({ blob: "x".repeat(100_000), password: "hunter2" })
  expect(masked.text).not.toContain("hunter2")
  expect(mask({ password: "hunter2", blob: "x".repeat(100_000) }).text).toMatch(/^\{"password":"\*\*\*"/)
})

test("a secret that a tool repeats in its error is masked there too", () => {
  const { hidden } = mask({ password: "hunter2-x" })
  expect(text("The word hunter2-x is wrong.", hidden)).toBe("The word *** is wrong.")
  expect(mask({ echo: "it was hunter2-x" }, [], hidden).text).toBe('{"echo":"it was ***"}')
})

test("what is harmless is kept as it is, without a digest", () => {
  expect(mask({ a: 1, keyboard: "qwerty" })).toEqual({ text: '{"a":1,"keyboard":"qwerty"}', length: 27 })
  expect(mask({ key: "LANG", value: "de" }).text).toBe('{"key":"LANG","value":"de"}')
  expect(mask({ key: "LANG" }).text).toBe('{"key":"LANG"}')
  expect(mask({ max_tokens: 5, passed: true, compass: "north" }).text).toBe(
    '{"max_tokens":5,"passed":true,"compass":"north"}',
  )
})

test("a long text is cut, and its length and digest are kept", () => {
  const masked = mask("é".repeat(9000))
  expect(masked.text.length).toBeLessThan(4010)
  expect(masked).toMatchObject({ length: 9000, digest: expect.any(String) })
})

test("law: equal values have equal digests, other values others, and no secret value under a secret name ever shows", () => {
  const name = fc.constantFrom("password", "apiKey", "auth_token", "client-secret", "Cookie")
  const secret = fc.string({ minLength: 6, maxLength: 30 }).map((value) => `§${value}§`)
  fc.assert(
    fc.property(name, secret, fc.jsonValue({ maxDepth: 3 }), (key, value, rest) => {
      const masked = mask({ rest, deep: [{ [key]: value }] })
      expect(masked.text).not.toContain(JSON.stringify(value).slice(1, -1))
      expect(mask({ rest, deep: [{ [key]: value }] }).digest).toBe(masked.digest)
      expect(mask({ rest, deep: [{ [key]: `${value}!` }] }).digest).not.toBe(masked.digest)
    }),
    { numRuns: 200 },
  )
})
