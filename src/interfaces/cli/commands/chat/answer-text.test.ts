import { createColors } from "picocolors"
import { expect, test } from "vitest"
import { plainStyle } from "../../../../lib/terminal-style.ts"
import { AnswerText } from "./answer-text.ts"

const answer = `# Result\n\nThe **third test** fails, because \`notes.md\` is missing and so on.\n\n\`\`\`sh\n${"npm test ".repeat(20)}\n\`\`\`\n- a list item that is long\n\nDone.`

/** The rows of an answer that comes in pieces of this length. */
function set(text: string, pieces: number, columns: number, paint = plainStyle): string[] {
  const answerText = new AnswerText(paint, () => columns)
  const rows: string[] = []
  for (let at = 0; at < text.length; at += pieces) rows.push(...answerText.add(text.slice(at, at + pieces)))
  return [...rows, ...answerText.end()]
}

test.each([1, 7, 1000])("an answer in pieces of %i characters gives the same rows", (pieces) => {
  expect(set(answer, pieces, 30)).toEqual([
    "# Result",
    "",
    "The **third test** fails,",
    "because `notes.md` is missing",
    "and so on.",
    "",
    "```sh",
    "npm test ".repeat(20),
    "```",
    "- a list item that is long",
    "",
    "Done.",
  ])
})

test("further rows of a list item are indented", () => {
  expect(set("- a list item that is long\n  and goes on and on\nend", 3, 16)).toEqual([
    "- a list item",
    "  that is long",
    "  and goes on",
    "  and on",
    "end",
  ])
})

test("headings, bold words and code get a style, also over the end of a row", () => {
  const paint = createColors(true)
  const rows = set("# Result\nSome **bold words** and `code`.", 5, 12, paint)
  expect(rows).toEqual([
    paint.bold("Result"),
    `Some ${paint.bold("bold")}`,
    `${paint.bold("words")} and`,
    `${paint.cyan("code")}.`,
  ])
})

test("the row that is being written has its style already", () => {
  const paint = createColors(true)
  const answerText = new AnswerText(paint, () => 40)
  answerText.add("Some **bold wo")
  expect(answerText.tail).toBe(`Some ${paint.bold("bold wo")}`)
  answerText.add("rds** here")
  expect(answerText.tail).toBe(`Some ${paint.bold("bold words")} here`)
})

test("control characters of a model are shown, not obeyed", () => {
  expect(set("a\u001b[2Jb", 100, 80)).toEqual(["a\\u{1b}[2Jb"])
})

test("a text is not set wider than can be read", () => {
  expect(Math.max(...set("word ".repeat(100), 9, 200).map((row) => row.length))).toBeLessThanOrEqual(100)
})
