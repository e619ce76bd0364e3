import fc from "fast-check"
import iconv from "iconv-lite"
import { expect, test } from "vitest"
import { decode } from "../../platform/text/decode.ts"
import { changeBytes } from "./edit-plan.ts"
import type { Edit } from "./edits.ts"

async function edited(bytes: Buffer, edit: Edit): Promise<Buffer> {
  const { changed } = await changeBytes(bytes, await decode(bytes, "a.txt"), [edit], "a.txt")
  return changed
}

const anyText = fc.string({ unit: "binary", maxLength: 20 })

/** Encodings of a text: its byte order mark, how it is encoded, and what may be around the edit. */
const writings: [string, (text: string) => Buffer, Buffer, fc.Arbitrary<string>, string][] = [
  ["utf-8", (text) => Buffer.from(text), Buffer.alloc(0), anyText, "ä🎉"],
  ["utf-8 with mark", (text) => Buffer.from(text), Buffer.from("\ufeff"), anyText, "ä🎉"],
  ["utf-16le", (text) => Buffer.from(text, "utf16le"), Buffer.from([0xff, 0xfe]), anyText, "ä🎉"],
  ["utf-16be", (text) => Buffer.from(text, "utf16le").swap16(), Buffer.from([0xfe, 0xff]), anyText, "ä🎉"],
  ["utf-32le", (text) => iconv.encode(text, "utf-32le", { addBOM: false }), Buffer.from([0xff, 0xfe, 0, 0]), anyText, "ä🎉"],
  ["gbk", (text) => iconv.encode(text, "gbk"), Buffer.alloc(0), fc.string({ unit: fc.constantFrom(...Array.from("的一是不了人我在有他这中大来上\na ")), maxLength: 20 }), ""],
  ["shift_jis", (text) => iconv.encode(text, "cp932"), Buffer.alloc(0), fc.string({ unit: fc.constantFrom(...Array.from("のにはをたがでてとしれさ日本語表示\na ")), maxLength: 20 }), ""],
  ["windows-1252", (text) => iconv.encode(text, "windows-1252"), Buffer.alloc(0), fc.string({ unit: fc.constantFrom(...Array.from("aeioué ç à ü\n ")), maxLength: 20 }), ""],
] // prettier-ignore
const ending = fc.constantFrom("\n", "\r\n")

test.each(writings)("law: in %s no byte outside the replaced text changes, and the reverse edit restores the file", async (_name, encode, mark, around, odd) => {
  const text = around.map((some) => some.replaceAll(/[\0\r@]/g, ""))
  const lines = fc.array(fc.tuple(text, ending), { maxLength: 8 }).map((all) => all.map(([line, own]) => line + own).join(""))
  const fresh = fc.array(fc.constantFrom("x", "\n", "$&", " ", ...(odd === "" ? ["y"] : [odd])), { maxLength: 6 }).map((parts) => `@${parts.join("")}@`)
  await fc.assert(
    fc.asyncProperty(lines, lines, fresh, ending, fc.boolean(), async (before, after, newText, end, twoLines) => {
      const old = twoLines ? `@here${end}there@` : "@here@"
      const file = (middle: string) => Buffer.concat([mark, encode(before), encode(middle), encode(`${end}${after}`)])
      const oldText = old.replaceAll("\r\n", "\n")
      const changed = await edited(file(old), { oldText, newText })
      expect(changed).toEqual(file(newText.replaceAll("\n", end)))
      expect(await edited(changed, { oldText: newText, newText: oldText })).toEqual(file(old))
    }),
    { numRuns: 150 },
  )
}) // prettier-ignore

test("law: invalid bytes are never changed by an edit beside them", async () => {
  const bytes = fc.array(fc.constantFrom(0x41, 0x0a, 0xc3, 0xa4, 0xff, 0x80, 0xe2, 0x82, 0xac, 0xf0, 0xed, 0xa0), { maxLength: 30 }).map((some) => Buffer.from(some))
  await fc.assert(
    fc.asyncProperty(bytes, bytes, fc.boolean(), async (before, after, german) => {
      const right = german ? Buffer.from("schöne grüße für alle bäume, höhlen und öfen äöüäöüäöüäöüäöüäöüäöüäöü") : Buffer.alloc(0)
      const file = (middle: string) => Buffer.concat([right, before, Buffer.from(middle), after])
      // In no encoding is # the second half of a character; @ is one, after 0xa4 in Big5.
      const changed = await edited(file("#here#"), { oldText: "#here#", newText: "there\n" })
      expect(changed).toEqual(file("there\n"))
    }),
    { numRuns: 200 },
  )
}) // prettier-ignore

test("law: several edits at once have the same effect as each alone, in any order", async () => {
  const names = fc.uniqueArray(fc.constantFrom("@a@", "@b@", "@c@", "@d@"), { minLength: 1 })
  const text = fc.array(fc.constantFrom("x", "ä", "🎉", "\r\n", "\n", " "), { maxLength: 10 }).map((parts) => parts.join(""))
  await fc.assert(
    fc.asyncProperty(names, text, text, async (some, between, newText) => {
      const before = Buffer.from(`${between}@a@${between}@b@${between}@c@${between}@d@\n`)
      const edits = some.map((oldText) => ({ oldText, newText }))
      const together = await changeBytes(before, await decode(before, "a"), edits, "a")
      let one: Buffer = before
      for (const edit of edits) one = await edited(one, edit)
      expect(together.changed.toString()).toBe(one.toString())
    }),
    { numRuns: 150 },
  )
}) // prettier-ignore

test("characters that share half of a surrogate pair are replaced whole", async () => {
  const pairs: [string, string][] = [
    ["😀", "😁"],
    ["\u{1f600}", "\u{1fa00}"],
    ["a😀😀b", "a😀😁b"],
  ]
  for (const [oldText, newText] of pairs) {
    const changed = await edited(Buffer.from(`x${oldText}y`), { oldText, newText })
    expect(changed.toString()).toBe(`x${newText}y`)
    const wide = await edited(Buffer.from(`\ufeffx${oldText}y`, "utf16le"), { oldText, newText })
    expect(wide.toString("utf16le")).toBe(`\ufeffx${newText}y`)
  }
})

test("a text in a legacy encoding keeps its bytes around the edit", async () => {
  const korean = iconv.encode("이것은 한국어로 쓴 시험용 문장입니다. 모두 안녕하세요. ".repeat(4), "euc-kr")
  const before = Buffer.concat([korean, Buffer.from("@here@\n")])
  expect((await edited(before, { oldText: "@here@", newText: "there" })).subarray(0, korean.length)).toEqual(korean)
})
