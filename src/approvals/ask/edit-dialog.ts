import { isDeepStrictEqual } from "node:util"
import { errorMessage } from "../../lib/error-message.ts"
import { printable, printableJson } from "../../lib/printable.ts"
import { oneLine, quoteName } from "./card-rows.ts"
import { choose, promptText, showNotice, type Screen } from "./dialog.ts"
import { parseEditedInput, singleLineJson, type EditedInput } from "./edited-input.ts"

/** Lets the person change the input of a call; undefined if they change nothing. */
export async function editInput(screen: Screen, input: unknown): Promise<{ input: unknown } | undefined> {
  let json = printableJson(input, 2)
  for (;;) {
    const edited = await editedInput(screen, input, json)
    if (edited === undefined) return undefined
    if ("wrong" in edited) {
      showNotice(screen, `${edited.wrong} Edit it again.`)
      json = edited.json
    } else if (isDeepStrictEqual(edited.input, input)) {
      showNotice(screen, "Nothing was changed.")
      return undefined
    } else return edited
  }
}

type Edited = Exclude<EditedInput, { wrong: string }> | { wrong: string; json: string }

async function editedInput(screen: Screen, input: unknown, json: string): Promise<Edited | undefined> {
  const editor = screen.env["VISUAL"] || screen.env["EDITOR"]
  if (!editor) return readJson(await editHere(screen, json))
  const texts = longTexts(input)
  const name = oneLine(editor, 80)
  const words: Record<string, string> = {
    ...Object.fromEntries(texts.map(([field], place) => [place + 1, `${quoteName(field)} in ${name}`])),
    v: texts.length === 0 ? `in ${name}` : `all as JSON in ${name}`,
    h: "here, as one line",
  }
  const where = await choose(screen, [], "Edit where?", words, "back")
  if (where === undefined) return undefined
  if (where === "h") return readJson(await editHere(screen, json))
  if (where === "v") return readJson(await editInEditor(screen, editor, json, "input.json"))
  const [field, text] = texts[Number(where) - 1]!
  const edited = await editInEditor(screen, editor, text, "text.txt")
  return edited === undefined ? undefined : { input: { ...Object(input), [field]: withEndOf(text, edited) } }
}

const mostTexts = 9
const longLine = 80

/** The fields that are easier to change as text than inside JSON. A text with hidden characters is changed as JSON. */
function longTexts(input: unknown): [field: string, text: string][] {
  const isLong = (value: unknown): value is string =>
    typeof value === "string" && (value.includes("\n") || value.length > longLine) && printable(value) === value
  return Object.entries(Object(input) as object)
    .filter((entry): entry is [string, string] => isLong(entry[1]))
    .slice(0, mostTexts)
}

/** Editors end the last line. A text that did not have that end keeps it so. */
function withEndOf(before: string, after: string): string {
  return before.endsWith("\n") ? after : after.replace(/\n$/, "")
}

function readJson(json: string | undefined): Edited | undefined {
  if (json === undefined) return undefined
  const read = parseEditedInput(json)
  return "wrong" in read ? { ...read, json } : read
}

function editHere(screen: Screen, json: string): Promise<string | undefined> {
  const wrong = (text: string) => {
    const read = parseEditedInput(text)
    return "wrong" in read ? read.wrong : undefined
  }
  return promptText(screen, { message: "The input as JSON:", initialValue: singleLineJson(json), wrong })
}

async function editInEditor(screen: Screen, editor: string, text: string, name: string): Promise<string | undefined> {
  const { terminal, signal } = screen
  const { editInFile } = await import("./editor.ts")
  return editInFile({ text, name }, editor, terminal, signal).catch((error: unknown) => {
    if (!signal.aborted) showNotice(screen, errorMessage(error))
    return undefined
  })
}
