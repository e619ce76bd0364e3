import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { jsonRanges, type JsonRange } from "../../tools/workspace/json-ranges.ts"
import { openBench, type Bench } from "../../tools/workspace/testing.ts"
import { previewTextOf } from "../../testing/preview-text.ts"

const cells = [
  { cell_type: "markdown", id: "intro", metadata: {}, source: ["# Title\n", "text"] },
  {
    cell_type: "code",
    execution_count: 3,
    id: "sum",
    metadata: { "2": "two", "1": "one" },
    outputs: [
      { name: "stdout", output_type: "stream", text: ["42\n"] },
      { data: { "image/png": "iVBORw0KGgo=", "text/plain": ["<Figure>"] }, metadata: {}, output_type: "display_data" },
      { ename: "E", evalue: "bad", output_type: "error", traceback: ["\u001b[31mE\u001b[0m: bad"] },
    ],
    source: ["a = 1\n", "print(a)"],
  },
  { cell_type: "code", execution_count: null, id: "last", metadata: {}, outputs: [], source: [] },
]
const notebook = { cells, metadata: { kernelspec: { name: "python3" } }, nbformat: 4, nbformat_minor: 5 }
const text = `${JSON.stringify(notebook, null, 1)}\n`.replace(
  '"1": "one",\n    "2": "two"',
  '"2": "two",\n    "1": "one"',
)

const textOf = (bench: Bench, path: string) => readFileSync(join(bench.dir, path), "utf8")
const parsed = (bench: Bench, path: string) => JSON.parse(textOf(bench, path)) as typeof notebook

test("a notebook is read cell by cell", async () => {
  const bench = openBench()
  bench.put("a.ipynb", text)
  expect(await bench.call("read_notebook", { path: "a.ipynb" })).toEqual({
    path: "a.ipynb",
    cells: [
      { index: 0, id: "intro", type: "markdown", source: "# Title\ntext" },
      {
        index: 1,
        id: "sum",
        type: "code",
        source: "a = 1\nprint(a)",
        executionCount: 3,
        outputs: [
          { type: "stream", name: "stdout", text: "42\n" },
          { type: "display_data", text: "<Figure>", media: ["image/png (12 characters)"] },
          { type: "error", text: "E: bad" },
        ],
      },
      { index: 2, id: "last", type: "code", source: "", executionCount: null, outputs: [] },
    ],
    metadata: { kernelspec: { name: "python3" } },
    nbformat: 4,
    nbformatMinor: 5,
  })
  const all = await bench.call("read_notebook", { path: "a.ipynb", outputs: "all" })
  expect((all["cells"] as { outputs?: unknown }[])[1]!.outputs).toEqual(cells[1]!.outputs)
  const none = await bench.call("read_notebook", { path: "a.ipynb", outputs: "none" })
  expect((none["cells"] as object[])[1]).not.toHaveProperty("outputs")
})

test("read_file shows a notebook as cells, and as text when an encoding is named", async () => {
  const bench = openBench()
  bench.put("a.ipynb", text)
  const read = await bench.call("read_file", { path: "a.ipynb" })
  expect(read).toMatchObject({ kind: "notebook", size: Buffer.byteLength(text), truncated: false })
  expect(read["content"]).toBe(
    "--- cell 0 id=intro markdown ---\n# Title\ntext\n\n--- cell 1 id=sum code ---\na = 1\nprint(a)\n" +
      "[stream]\n42\n[display_data: image/png (12 characters)]\n<Figure>\n[error]\nE: bad\n\n--- cell 2 id=last code ---\n",
  )
  expect(await bench.call("read_file", { path: "a.ipynb", offset: 2, limit: 1 })).toMatchObject({
    content: "# Title\n",
  })
  expect(await bench.call("read_file", { path: "a.ipynb", encoding: "utf-8" })).toMatchObject({ content: text })
  bench.put("broken.ipynb", "{ no json")
  expect(await bench.call("read_file", { path: "broken.ipynb" })).toMatchObject({
    content: "{ no json",
    kind: "text",
    notice: expect.stringContaining("shown as text"),
  })
})

test("a cell is replaced by id or index, its outputs are cleared, and nothing else changes", async () => {
  const bench = openBench()
  bench.put("a.ipynb", text)
  const edited = await bench.call("edit_notebook", { path: "a.ipynb", cellId: "sum", source: "b = 2\nprint(b)\n" })
  expect(edited).toMatchObject({ ok: true, mode: "replace", index: 1, cellId: "sum", cellType: "code", totalCells: 3 })
  expect(edited).toMatchObject({ oldSource: "a = 1\nprint(a)", source: "b = 2\nprint(b)\n" })
  const [first, second] = text.split('"execution_count": 3,')
  const tail = second!.slice(second!.indexOf('  {\n   "cell_type": "code",\n   "execution_count": null'))
  expect(textOf(bench, "a.ipynb")).toBe(
    `${first}"execution_count": null,\n   "id": "sum",\n   "metadata": {\n    "2": "two",\n    "1": "one"\n   },\n` +
      `   "outputs": [],\n   "source": [\n    "b = 2\\n",\n    "print(b)\\n"\n   ]\n  },\n${tail}`,
  )
  await bench.call("edit_notebook", { path: "a.ipynb", cellIndex: 0, source: "" })
  expect(parsed(bench, "a.ipynb").cells[0]).toEqual({ ...cells[0], source: [] })
})

test("a cell is inserted after the named one, or first, with a new id", async () => {
  const bench = openBench()
  bench.put("a.ipynb", text)
  const first = await bench.call("edit_notebook", { path: "a.ipynb", mode: "insert", cellType: "markdown", source: "# New" })
  expect(first).toMatchObject({ index: 0, totalCells: 4, cellId: expect.stringMatching(/^[0-9a-f]{8}$/) })
  const last = await bench.call("edit_notebook", { path: "a.ipynb", mode: "insert", cellId: "last", cellType: "code", source: "x\n" })
  expect(last).toMatchObject({ index: 4, totalCells: 5 })
  const after = parsed(bench, "a.ipynb")
  expect(after.cells.map(({ source }) => source)).toEqual([["# New"], ["# Title\n", "text"], ["a = 1\n", "print(a)"], [], ["x\n"]])
  expect(after.cells[4]).toEqual({ cell_type: "code", execution_count: null, id: last["cellId"], metadata: {}, outputs: [], source: ["x\n"] })
  expect(`${JSON.stringify(after, null, 1)}\n`.length).toBe(textOf(bench, "a.ipynb").length)
}) // prettier-ignore

test("a cell is deleted, and inserting it again gives the same text", async () => {
  const bench = openBench()
  for (const [cellId, left] of [["intro", "sum last"], ["sum", "intro last"], ["last", "intro sum"]]) {
    bench.put(`${cellId}.ipynb`, text)
    expect(await bench.call("edit_notebook", { path: `${cellId}.ipynb`, mode: "delete", cellId })).toMatchObject({ totalCells: 2 })
    expect(parsed(bench, `${cellId}.ipynb`).cells.map(({ id }) => id).join(" ")).toBe(left)
  }
  bench.put("one.ipynb", JSON.stringify({ cells: [{ cell_type: "raw", metadata: {}, source: "x" }], metadata: {}, nbformat: 4, nbformat_minor: 2 }))
  await bench.call("edit_notebook", { path: "one.ipynb", mode: "delete", cellIndex: 0 })
  await bench.call("edit_notebook", { path: "one.ipynb", mode: "insert", cellType: "raw", source: "y" })
  expect(textOf(bench, "one.ipynb")).toBe('{"cells":[{"cell_type":"raw","metadata":{},"source":["y"]}],"metadata":{},"nbformat":4,"nbformat_minor":2}')
}) // prettier-ignore

test("a cell changes its type, and a source that was one text stays one", async () => {
  const bench = openBench()
  bench.put("a.ipynb", text)
  await bench.call("edit_notebook", { path: "a.ipynb", cellId: "sum", source: "words", cellType: "markdown" })
  expect(parsed(bench, "a.ipynb").cells[1]).toEqual({ cell_type: "markdown", id: "sum", metadata: cells[1]!.metadata, source: ["words"] })
  bench.put("b.ipynb", text.replace(/"source": \[\s*"# Title[^\]]*\]/, '"source": "# Title"'))
  await bench.call("edit_notebook", { path: "b.ipynb", cellIndex: 0, source: "a\nb" })
  expect(parsed(bench, "b.ipynb").cells[0]!.source).toBe("a\nb")
}) // prettier-ignore

test("a file that is not JSON is refused in one line", async () => {
  const bench = openBench()
  bench.put("torn.ipynb", '{\n  "cells": [\n    oops\n  ]\n}\n')
  const { error = "" } = await bench.call("read_notebook", { path: "torn.ipynb" })
  expect(error).toMatch(/^[^\n]*torn\.ipynb is not a notebook: [^\n]+ to see what is wrong\.$/)
})

test("an impossible change is refused, and nothing is changed", async () => {
  const bench = openBench()
  const path = bench.put("a.ipynb", text)
  bench.put("old.ipynb", '{"worksheets": [], "nbformat": 3}')
  bench.put("data.ipynb", '{"a": 1}')
  const cases: [object, string][] = [
    [{ path: "a.ipynb", cellId: "nobody", source: "x" }, "no_such_cell"],
    [{ path: "a.ipynb", cellIndex: 3, source: "x" }, "no_such_cell"],
    [{ path: "a.ipynb", source: "x" }, "no_such_cell"],
    [{ path: "a.ipynb", cellId: "intro", source: "# Title\ntext" }, "no_change"],
    [{ path: "a.ipynb", cellId: "intro", cellIndex: 0, source: "x" }, "invalid_arguments"],
    [{ path: "a.ipynb", cellId: "intro" }, "invalid_arguments"],
    [{ path: "a.ipynb", mode: "insert", source: "x" }, "invalid_arguments"],
    [{ path: "a.ipynb", mode: "delete", cellId: "intro", source: "x" }, "invalid_arguments"],
    [{ path: "old.ipynb", cellIndex: 0, source: "x" }, "not_a_notebook"],
    [{ path: "data.ipynb", cellIndex: 0, source: "x" }, "not_a_notebook"],
    [{ path: "b.ipynb", cellIndex: 0, source: "x" }, "file_not_found"],
  ]
  for (const [input, toolCode] of cases) {
    expect((await bench.call("edit_notebook", input)).toolCode, JSON.stringify(input)).toBe(toolCode)
  }
  expect(textOf(bench, "a.ipynb")).toBe(text)
  await bench.call("read_notebook", { path: "a.ipynb" })
  writeFileSync(path, text.replace("a = 1", "a = 5"))
  expect(await bench.call("edit_notebook", { path: "a.ipynb", cellIndex: 0, source: "x" })).toMatchObject({ toolCode: "file_changed" })
}) // prettier-ignore

test("an approver sees the same diff of an insertion each time", async () => {
  const bench = openBench()
  bench.put("a.ipynb", text)
  const input = { path: "a.ipynb", mode: "insert", cellType: "code", source: "x" }
  const preview = () => previewTextOf(bench.tools.get("edit_notebook")!, input)
  expect(await preview()).toBe(await preview())
  expect(await preview()).toContain('+   "id": "(a new id)",\n')
})

test("law: every value of a JSON text is at its reported range", () => {
  const build = (range: JsonRange, source: string): unknown => {
    if (range.items !== undefined) return range.items.map((item) => build(item, source))
    if (range.members === undefined) return JSON.parse(source.slice(range.start, range.end))
    return Object.fromEntries([...range.members].map(([name, { value }]) => [name, build(value, source)]))
  }
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t"), (value, indent) => {
      const source = ` ${JSON.stringify(value, null, indent)}\r\n`
      const range = jsonRanges(source)
      expect(source.slice(range.start, range.end)).toBe(source.trim())
      expect(JSON.stringify(build(range, source))).toBe(JSON.stringify(JSON.parse(source)))
    }),
    { numRuns: 300 },
  )
})
