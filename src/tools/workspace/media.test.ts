import { expect, test } from "vitest"
import { openBench } from "./testing.ts"

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
)
const gif = Buffer.from("R0lGODlhAgADAIAAAAAAAP///ywAAAAAAgADAAACAoRRADs=", "base64")

test("an image is returned with its dimensions and in Base64, whatever its name", async () => {
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
