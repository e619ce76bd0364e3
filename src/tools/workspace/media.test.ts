import { expect, test } from "vitest"
import { openBench } from "./testing.ts"

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
)
const gif = Buffer.from("R0lGODlhAgADAIAAAAAAAP///ywAAAAAAgADAAACAoRRADs=", "base64")

/** A PDF document with one line of text on each page. */
function pdf(lines: readonly string[]): Buffer {
  const kids = lines.map((_, index) => `${4 + 2 * index} 0 R`).join(" ")
  const pages = lines.flatMap((line, index) => {
    const stream = `BT /F1 24 Tf 72 700 Td (${line}) Tj ET`
    return [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * index} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    ]
  })
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${lines.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages,
  ]
  let text = "%PDF-1.4\n"
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("")
  const start = text.length
  const size = objects.length + 1
  return Buffer.from(
    `${text}xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`,
    "latin1",
  )
}

test("an image is told by its dimensions and given in Base64, whatever it is called [S2-28]", async () => {
  const bench = openBench()
  bench.put("dot.txt", png)
  bench.put("b.gif", gif)
  expect(await bench.call("read_file", { path: "dot.txt" })).toEqual({
    content: `A PNG image, 1 × 1 pixels, ${png.length} bytes.`,
    size: png.length,
    chars: 36,
    path: "dot.txt",
    encoding: "base64",
    truncated: false,
    kind: "image",
    image: { mimeType: "image/png", width: 1, height: 1, data: png.toString("base64") },
  })
  expect(await bench.call("read_file", { path: "b.gif" })).toMatchObject({ image: { mimeType: "image/gif", width: 2, height: 3 } })
  bench.put("broken.png", png.subarray(0, 12))
  expect(await bench.call("read_file", { path: "broken.png" })).toMatchObject({ content: expect.stringContaining("unknown dimensions") })
}) // prettier-ignore

test("a PDF document is read as text by page, twenty at a time", async () => {
  const bench = openBench()
  bench.put("a.pdf", pdf(Array.from({ length: 25 }, (_, index) => `This is page ${index + 1}.`)))
  const read = await bench.call("read_file", { path: "a.pdf" })
  expect(read).toMatchObject({ kind: "pdf", totalPages: 25, truncated: true, notice: "Pages 1-20 of 25. Go on with pages=21-25." })
  expect(read["content"]).toContain("--- page 1 of 25 ---\nThis is page 1.\n\n--- page 2 of 25 ---\nThis is page 2.\n")
  const cases: [string, string[], boolean][] = [
    ["3", ["This is page 3."], true],
    ["24-", ["This is page 24.", "This is page 25."], false],
    ["25-30", ["This is page 25."], false],
  ]
  for (const [pages, lines, truncated] of cases) {
    const some = await bench.call("read_file", { path: "a.pdf", pages })
    expect([(some["content"] as string).match(/This.*/g), some["truncated"]]).toEqual([lines, truncated])
  }
  expect(await bench.call("read_file", { path: "a.pdf", pages: "26" })).toMatchObject({ toolCode: "no_such_page" })
  expect(await bench.call("read_file", { path: "a.pdf", pages: "1-25" })).toMatchObject({ toolCode: "too_many_pages" })
  bench.put("broken.pdf", "%PDF-1.4\nnothing of it\n")
  expect(await bench.call("read_file", { path: "broken.pdf" })).toMatchObject({ toolCode: "broken_pdf" })
}) // prettier-ignore
