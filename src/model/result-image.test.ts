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
