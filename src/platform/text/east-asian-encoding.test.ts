import iconv from "iconv-lite"
import fc from "fast-check"
import { expect, test } from "vitest"
import { detectEastAsianEncoding } from "./east-asian-encoding.ts"

test.each([
  ["gb18030", "你好世界\n"],
  ["gb18030", "你好世界中文测试文本"],
  ["gb18030", "// 返回用户名称\nconst name = 1\n"],
  ["gb18030", "中文test"],
  ["gb18030", "好"],
  ["big5", "你好世界"],
  ["big5", "這是測試"],
  ["shift_jis", "こんにちは"],
  ["shift_jis", "日本語"],
  ["shift_jis", "テスト"],
  ["euc-jp", "日本語のテスト"],
  ["euc-jp", "こんにちは"],
  ["euc-kr", "안녕하세요"],
  ["euc-kr", "한국어 테스트"],
] as const)("a few bytes of %s are read as that: %s", (name, text) => {
  expect(detectEastAsianEncoding(iconv.encode(text, name))).toBe(name)
})

test.each([
  ["latin1", "café"],
  ["latin1", "Müller"],
  ["latin1", "naïve"],
  ["latin1", "Größe, déjà vu, créée, Noël, blåøyd"],
  ["latin1", "¿Él no viene? ¿Ésta?"],
  ["windows-1252", "“é” – «É» ™ €"],
  ["windows-1251", "Привет"],
  ["windows-1251", "Здравствуйте, мир"],
  ["koi8-r", "привет"],
  ["koi8-r", "Добрый день"],
  ["iso-8859-7", "Γεια σου"],
  ["iso-8859-7", "ΓΕΙΑ"],
  ["iso-8859-2", "żółć"],
  ["windows-1255", "שלום עולם"],
  ["windows-1256", "مرحبا بالعالم"],
  ["windows-874", "สวัสดี"],
] as const)("a few letters of %s are no Chinese, Japanese or Korean: %s", (name, text) => {
  expect(detectEastAsianEncoding(iconv.encode(text, name))).toBeUndefined()
})

test("everyday words are found in whatever order they come", () => {
  const words = fc.array(fc.constantFrom("你好", "我们", "时间", "，", "今天", "abc", "\n"), {
    minLength: 3,
    maxLength: 30,
  })
  fc.assert(
    fc.property(words, (parts) => {
      const text = parts.join(" ")
      const found = detectEastAsianEncoding(iconv.encode(text, "gbk"))
      const hasWord = parts.some((part) => /[你我时今]/.test(part))
      if (hasWord) expect(found).toBe("gb18030")
    }),
    { numRuns: 200 },
  )
})

test("what has enough bytes for statistics is left to them", () => {
  expect(detectEastAsianEncoding(iconv.encode("你好世界".repeat(40), "gbk"))).toBeUndefined()
  expect(detectEastAsianEncoding(Buffer.from("plain"))).toBeUndefined()
})
