import fc from "fast-check"
import { expect, test } from "vitest"
import { normalizeUrl, parseUrl } from "./url.ts"

test.each([
  ["note://a", "note://a"],
  ["NOTE://a", "note://a"],
  [" note://a\t", "note://a"],
  ["file:/etc/hosts", "file:///etc/hosts"],
  ["file://localhost/etc/hosts", "file:///etc/hosts"],
  ["file:///etc/./x/../hosts", "file:///etc/hosts"],
  ["file:///%65tc/hosts", "file:///etc/hosts"],
  ["file:///a/%2e%2e/b", "file:///b"],
  ["file:///a%2fb", "file:///a%2Fb"],
  ["HTTPS://EXAMPLE.com:443/a", "https://example.com/a"],
  ["test://template/123/data", "test://template/123/data"],
  ["note://a b", undefined],
  ["note://a\u0000", undefined],
  ["no address", undefined],
  ["relative/path", undefined],
])("%j is normally written %j", (address, normal) => {
  expect(normalizeUrl(address)).toBe(normal)
})

test("what is normal stays as it is", () => {
  const piece = fc.string({
    unit: fc.constantFrom("a", "Z", "%", "2", "e", "E", "6", "5", ".", "/", "?", "#", ":", "@"),
  })
  const law = fc.property(fc.constantFrom("file://", "x:", "HTTP://h/", "note://"), piece, (start, rest) => {
    const normal = normalizeUrl(start + rest)
    if (normal !== undefined) expect(normalizeUrl(normal)).toBe(normal)
  })
  fc.assert(law, { numRuns: 1000 })
})

test("an address with letters such as ü is one, however many were read before it", () => {
  const read = Array.from({ length: 20_000 }, () => parseUrl("https://münchen.example/ü")?.host)
  expect(new Set(read)).toEqual(new Set(["xn--mnchen-3ya.example"]))
})
