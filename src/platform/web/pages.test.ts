import iconv from "iconv-lite"
import { describe, expect, test } from "vitest"
import { ToolFailure } from "../../core/ending.ts"
import { openPages } from "./pages.ts"
import { findInPage, readablePage } from "./page-markdown.ts"

const base = "https://docs.example.com/guide/page"
const paragraph =
  "<p>A paragraph of an article has several words, some commas, and enough text to be read with pleasure.</p>"

describe("a page becomes Markdown", () => {
  const markdown = (html: string) => readablePage(html, base).markdown
  test.each([
    ["words and emphasis", "<p>Hello <b>you</b> and <em>me</em></p>", "Hello **you** and _me_"],
    ["headings", "<h1>One</h1><h3>Three</h3>", "# One\n\n### Three"],
    ["a link made whole", "<a href='../up?x=1'>up</a>", "[up](https://docs.example.com/up?x=1)"],
    ["a link that runs something", "<a href='javascript:alert(1)'>go</a>", "go"],
    ["a picture", "<img src=/a.png alt='An  A'>", "![An  A](https://docs.example.com/a.png)"],
    ["a picture inside the page", "<p>x<img src='data:image/png;base64,AAAA'></p>", "x"],
    ["code", "<pre><code class='language-js'>let a = 1\nlet b</code></pre>", "```js\nlet a = 1\nlet b\n```"],
    ["a list", "<ul><li>one</li><li>two</li></ul>", "-   one\n-   two"],
    ["what is struck", "<p><del>old</del> new</p>", "~~old~~ new"],
    [
      "a table",
      "<table><tr><th>a</th><th>b|c</th></tr><tr><td>1</td><td>2<br>3</td></tr></table>",
      "| a | b\\|c |\n| --- | --- |\n| 1 | 2 3 |",
    ],
    [
      "a table with parts",
      "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>",
      "| a |\n| --- |\n| 1 |",
    ],
    [
      "no scripts and nothing hidden",
      "<script>alert(1)</script><style>b{}</style><p hidden>secret</p><p>shown</p>",
      "shown",
    ],
    ["plain text", "just text", "just text"],
    ["nothing", "", ""],
    ["what is not closed", "<p>one<p>two<b>", "one\n\ntwo"],
  ])("%s", (_, html, expected) => expect(markdown(html)).toBe(expected))

  test("of an article only the article is kept", () => {
    const html = `<html><head><title> The
      title </title></head><body><nav>${"<a href=/n>Navigation</a> ".repeat(10)}</nav><article>${paragraph.repeat(10)}</article><footer>Imprint</footer></body></html>`
    const page = readablePage(html, base)
    expect(page.title).toBe("The title")
    expect(page.markdown).toContain("A paragraph of an article")
    expect(page.markdown).not.toMatch(/Navigation|Imprint/)
  })

  test("of a page that is not an article everything is kept", () => {
    const items = Array.from({ length: 40 }, (_, at) => `<li><a href=/item/${at}>Item ${at}</a></li>`).join("")
    const { markdown } = readablePage(`<html><body><h1>All items</h1><ul>${items}</ul></body></html>`, base)
    expect(markdown).toContain("[Item 39](https://docs.example.com/item/39)")
  })

  test("of a page that is too deep the plain text is kept", () => {
    const html = `${"<div>".repeat(5000)}deep <b>down</b><p>below</p>${"</div>".repeat(5000)}<script>no</script>`
    expect(readablePage(html, base).markdown).toBe("deep down\nbelow")
  })
})

test("parts of a page are found by their selectors, as text or attribute", () => {
  const html = `<div class=r><a class=t href="/x?a=1&amp;b=2"> A <b>title</b></a></div><div class=r><i>none</i></div>`
  expect(findInPage(html, { each: ".r", parts: { title: ".t", url: ".t@href" } })).toEqual([
    { title: "A title", url: "/x?a=1&b=2" },
    { title: "", url: "" },
  ])
})

describe("in a separate thread", () => {
  test("a page that takes too long ends with a sentence", async () => {
    const pages = openPages({ timeoutMs: 20 })
    const error = await pages.markdown("<p>x</p>", base).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ToolFailure)
    expect(error).toMatchObject({ toolCode: "page_too_complex", message: expect.stringContaining("within 0.02 s") })
  })

  test("an abort takes effect immediately", async () => {
    const controller = new AbortController()
    const reading = openPages().markdown(paragraph.repeat(100), base, controller.signal)
    controller.abort(new Error("enough"))
    await expect(reading).rejects.toThrow("enough")
    await expect(openPages().markdown("x", base, AbortSignal.abort(new Error("before")))).rejects.toThrow("before")
  })
})

describe("text is decoded in its own charset", () => {
  const pages = openPages()
  const read = (bytes: Uint8Array, type?: string) =>
    pages.text({ bytes: Buffer.from(bytes), headers: type === undefined ? {} : { "content-type": type } })
  const page = (charset: string, text: string) =>
    `<html><head><meta charset="${charset}"></head><body>${text}</body></html>`
  const chinese = "军需官把工具交给代理人，每一次调用都有人负责。".repeat(3)
  const japanese = "道具を渡す前に、誰が何をするのかを確かめます。".repeat(3)

  test.each([
    ["the header", iconv.encode(chinese, "gbk"), "text/plain; charset=GBK", chinese, "gb18030"],
    [
      "the header, quoted",
      iconv.encode(japanese, "shift_jis"),
      'text/plain;charset="Shift_JIS"',
      japanese,
      "shift_jis",
    ],
    ["the page itself", iconv.encode(page("gb2312", chinese), "gbk"), "text/html", page("gb2312", chinese), "gb18030"],
    [
      "http-equiv",
      iconv.encode(`<meta http-equiv="Content-Type" content="text/html; charset=euc-jp">${japanese}`, "euc-jp"),
      "text/html",
      `<meta http-equiv="Content-Type" content="text/html; charset=euc-jp">${japanese}`,
      "euc-jp",
    ],
    [
      "an XML declaration",
      iconv.encode(`<?xml version="1.0" encoding="windows-1251"?><a>Привет</a>`, "windows-1251"),
      "application/xml",
      `<?xml version="1.0" encoding="windows-1251"?><a>Привет</a>`,
      "windows-1251",
    ],
    ["a mark, against the header", Buffer.from(`\ufeff${chinese}`), "text/plain; charset=gbk", chinese, "utf-8"],
    ["a mark of UTF-16", iconv.encode(chinese, "utf-16le", { addBOM: true }), "text/plain", chinese, "utf-16le"],
    ["a header of UTF-16", iconv.encode(chinese, "utf-16be"), "text/plain; charset=utf-16be", chinese, "utf-16be"],
    ["nothing, and it is UTF-8", Buffer.from(chinese), "text/plain", chinese, "utf-8"],
    ["no header at all", Buffer.from(chinese), undefined, chinese, "utf-8"],
    [
      "a header that lies: UTF-8, and it is GBK",
      iconv.encode(chinese, "gbk"),
      "text/plain; charset=utf-8",
      chinese,
      "gb18030",
    ],
    [
      "a header that lies about a few bytes",
      iconv.encode("你好世界中文测试文本", "gbk"),
      "text/plain; charset=utf-8",
      "你好世界中文测试文本",
      "gb18030",
    ],
    ["nothing, and it is a word of Latin-1", iconv.encode("Müller", "latin1"), "text/plain", "Müller", "windows-1252"],
    [
      "a header that lies, and the page knows",
      iconv.encode(page("shift_jis", japanese), "shift_jis"),
      "text/html; charset=utf-8",
      page("shift_jis", japanese),
      "shift_jis",
    ],
    [
      "a header that lies: Latin-1, and it is UTF-8",
      Buffer.from("Zürich – Genève"),
      "text/html; charset=iso-8859-1",
      "Zürich – Genève",
      "utf-8",
    ],
    ["a header nobody knows", Buffer.from(chinese), "text/plain; charset=x-klingon", chinese, "utf-8"],
    [
      "Latin-1 as browsers read it",
      Buffer.from([0x93, 0x61, 0x94, 0x20, 0xfc]),
      "text/plain; charset=iso-8859-1",
      "“a” ü",
      "windows-1252",
    ],
    ["a character cut at the end", Buffer.from("ab€").subarray(0, 4), "text/plain", "ab", "utf-8"],
    ["JSON", Buffer.from('{"a":"ü"}'), "application/vnd.api+json", '{"a":"ü"}', "utf-8"],
    ["a type that says nothing", Buffer.from("plain ü"), "application/octet-stream", "plain ü", "utf-8"],
  ] as const)("%s", async (_, bytes, type, text, charset) => {
    expect(await read(bytes, type)).toEqual({ text, charset })
  })

  test.each([
    ["a picture", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]), "image/png"],
    ["a picture that says it is text", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]), "text/html; charset=utf-8"],
    ["a PDF", Buffer.from("%PDF-1.7"), "application/pdf"],
    ["bytes", Buffer.from([0xff, 0x01, 0x80, 0xfe]), "application/octet-stream"],
  ])("binary content is not decoded: %s", async (_, bytes, type) => expect(await read(bytes, type)).toBeUndefined())
})
