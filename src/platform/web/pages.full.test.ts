import { describe, expect, test } from "vitest"
import { openPages } from "./pages.ts"

const base = "https://docs.example.com/guide/page"

describe("in a separate thread", () => {
  test("pages are read, several at once", async () => {
    const pages = openPages()
    const read = await Promise.all(
      Array.from({ length: 3 }, (_, at) => pages.markdown(`<title>${at}</title><p>Page ${at}</p>`, base)),
    )
    expect(read.map(({ title, markdown }) => [title, markdown])).toEqual(
      Array.from({ length: 3 }, (_, at) => [String(at), `Page ${at}`]),
    )
    expect(await pages.find("<a href=/x>y</a>", { each: "body", parts: { y: "a" } })).toEqual([{ y: "y" }])
  })
})
