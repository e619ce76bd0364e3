import { expect, test } from "vitest"
import { openBench } from "./testing.ts"

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
