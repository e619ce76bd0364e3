import { expect, test } from "vitest"
import { resultAsText } from "./model-text.ts"
import { withoutImages } from "./result-image.ts"

const image = { mimeType: "image/png", width: 2, data: "QUJD".repeat(500) }
const shown = { mimeType: "image/png", width: 2 }

test("the bytes of images are taken out wherever they are, and nothing else is", () => {
  const value = { shots: [{ ok: true, image }], image: "a word", data: "QUJD", none: null }
  expect(withoutImages(value)).toEqual({ ...value, shots: [{ ok: true, image: shown }] })
})

test.each([
  ["a result", { ok: true, image }, { ok: true, image: shown }],
  ["the outputs of a pipeline", { outputs: { shot: { image } } }, { outputs: { shot: { image: shown } } }],
])("the text for a model has no bytes of the image in %s", (_, value, expected) => {
  expect(JSON.parse(resultAsText(value))).toEqual(expected)
})

test("an MCP result is told as its texts, and what it has besides by name", () => {
  const content = [
    { type: "text", text: "one\ntwo" },
    { type: "image", mimeType: "image/png", data: image.data },
    { type: "resource_link", name: "report", uri: "file:///report" },
    { type: "resource", resource: { uri: "file:///a", text: "inside" } },
    { type: "resource", resource: { uri: "file:///b", blob: "QUJD" } },
  ]
  expect(resultAsText({ content })).toBe(
    "one\ntwo\n[image: image/png]\n[report: file:///report]\ninside\n[file: file:///b]",
  )
  expect(resultAsText({ content: [], structuredContent: { sum: 5 } })).toBe('{"sum":5}')
})

test.each([
  ["a list of something else", { content: [{ type: "paragraph", text: "a" }] }],
  ["no list", { content: "text" }],
  ["an empty list", { content: [] }],
])("a value with %s as its content is JSON", (_, value) => {
  expect(JSON.parse(resultAsText(value))).toEqual(value)
})
