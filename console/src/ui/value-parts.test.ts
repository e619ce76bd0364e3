import { expect, test } from "vitest"
import { exitCodeIn, imagesIn, textIn } from "./value-parts.ts"

test.each([
  ["a text", "hello", "hello"],
  ["what a command printed", { stdout: "1\n", stderr: "warning", exitCode: 0 }, "1\n\nwarning"],
  [
    "blocks of MCP",
    {
      content: [
        { type: "text", text: "a" },
        { type: "image", data: "", mimeType: "image/png" },
      ],
    },
    "a",
  ],
  ["a file", { content: "# Title", path: "a.md" }, "# Title"],
  ["numbers only", { slept: 2 }, undefined],
])("the text in %s", (_, value, text) => expect(textIn(value)).toBe(text))

test.each([
  [{ stdout: "", exitCode: 2 }, 2],
  [{ stdout: "x", exitCode: 0 }, 0],
  [{ stdout: "still runs", exitCode: null }, undefined],
  ["exitCode", undefined],
])("the exit code in %j is %s", (value, code) => expect(exitCodeIn(value)).toBe(code))

test("images are shown only in formats that cannot run anything", () => {
  const block = (mimeType: string) => ({ type: "image", data: "QUJD", mimeType })
  expect(imagesIn({ content: [block("image/png"), block("image/svg+xml"), block("text/html")] })).toEqual([
    "data:image/png;base64,QUJD",
  ])
})
