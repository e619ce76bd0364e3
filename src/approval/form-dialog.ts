import type { QuestionDecision } from "../model/approval.ts"
import { checkForm, fieldProblem, formFields, wanted, type FormField } from "../model/form.ts"
import { readField } from "../model/form-reading.ts"
import type { JsonSchema } from "../model/schema.ts"
import { reasonForNo } from "./call-dialog.ts"
import { oneLine, ourRows, theirRows } from "./card-rows.ts"
import { choose, prompted, say, tell, written, type Screen } from "./dialog.ts"
import { choiceText, fallbackText, valueText } from "./form-rows.ts"
import { forgetKeys } from "./keys.ts"

/** Asks for a form field by field, shows what was filled in, and sends it; undefined when the dialog was closed. */
export async function fillIn(
  screen: Screen,
  form: JsonSchema,
  lines: () => readonly string[],
): Promise<QuestionDecision | undefined> {
  const { terminal, signal } = screen
  if ((await forgetKeys(terminal, signal)) !== undefined) return undefined
  // Before anything is shown, so that what is typed at once is not echoed between the lines.
  terminal.input.setRawMode(true)
  say(screen, ["", ...lines()])
  const fields = formFields(form)
  const given = new Map<string, unknown>()
  for (;;) {
    if (!(await askAll(screen, fields, given))) return undefined
    const answer = Object.fromEntries(given)
    const checked = checkForm(form, answer)
    if (!checked.ok) {
      tell(screen, `It is not filled in as the form asks: ${checked.problems.join(", ")}.`)
      if (fields.length === 0) return undefined
      continue
    }
    const words = { a: "send", ...(fields.length > 0 && { e: "change" }), r: "reject" }
    const key = await choose(screen, filledRows(screen, checked.value as object), "Send this?", words, "no")
    if (key === "a") return { answer }
    if (key === "r") return { rejectReason: await reasonForNo(screen) }
    if (key === undefined) return undefined
  }
}

/** For something to be done elsewhere: whether the person agrees to go there. Nothing is opened here. */
export async function agreeToOpen(screen: Screen, lines: readonly string[]): Promise<QuestionDecision | undefined> {
  const key = await choose(screen, lines, "Agree to open it yourself?", { a: "agree", r: "reject" }, "no")
  if (key === undefined) return undefined
  return key === "a" ? { answer: {} } : { rejectReason: await reasonForNo(screen) }
}

/** Whether the person went through all of them; what is given again is shown as it was. */
async function askAll(screen: Screen, fields: readonly FormField[], given: Map<string, unknown>): Promise<boolean> {
  for (const field of fields) {
    const said = await askField(screen, field, given.get(field.name))
    if (said === undefined) return false
    if (said === "left out") given.delete(field.name)
    else given.set(field.name, said.value)
  }
  return true
}

type Said = { value: unknown } | "left out" | undefined

async function askField(screen: Screen, field: FormField, before: unknown): Promise<Said> {
  const ask = { one: askChoice, boolean: askChoice, several: askSeveral }[field.kind as string] ?? askText
  for (;;) {
    const said = await ask(screen, field, before)
    const wrong = typeof said === "object" ? fieldProblem(field, said.value) : undefined
    if (wrong === undefined) return said
    tell(screen, wrong)
  }
}

async function askText(screen: Screen, field: FormField, before: unknown): Promise<Said> {
  const text = await written(screen, {
    message: messageOf(field),
    ...(before !== undefined && { initialValue: valueText(before) }),
    wrong(text) {
      if (text === "") return field.required && field.fallback === undefined ? "This one is needed." : undefined
      const read = readField(field, text)
      const wrong = "wrong" in read ? read.wrong : fieldProblem(field, read.value)
      return wrong === undefined ? undefined : oneLine(wrong)
    },
  })
  if (text === undefined) return undefined
  const read = text === "" ? undefined : readField(field, text)
  return read === undefined || "wrong" in read ? "left out" : read
}

const leftOut = -1

async function askChoice(screen: Screen, field: FormField, before: unknown): Promise<Said> {
  const values = field.kind === "boolean" ? [true, false] : field.choices.map(({ value }) => value)
  const labels =
    field.kind === "boolean" ? ["yes", "no"] : field.choices.map((choice) => oneLine(choiceText(choice), 200))
  const options = labels.map((label, value) => ({ value, label }))
  if (!field.required && field.fallback === undefined) options.push({ value: leftOut, label: "(leave it out)" })
  const initialValue = values.indexOf(before ?? field.fallback)
  const place = await prompted<number>(screen, (prompts, common) =>
    prompts.select({ ...common, message: messageOf(field), options, ...(initialValue >= 0 && { initialValue }) }),
  )
  if (place === undefined) return undefined
  return place === leftOut ? "left out" : { value: values[place] }
}

async function askSeveral(screen: Screen, field: FormField, before: unknown): Promise<Said> {
  const { choices, required, fallback } = field
  const options = choices.map((choice, value) => ({ value, label: oneLine(choiceText(choice), 200) }))
  const chosen = before ?? fallback
  const initialValues = Array.isArray(chosen) ? places(field, chosen) : []
  const found = await prompted<number[]>(screen, (prompts, common) =>
    prompts.multiselect({ ...common, message: messageOf(field), options, initialValues, required: false }),
  )
  if (found === undefined) return undefined
  if (found.length === 0 && !required && fallback === undefined) return "left out"
  return { value: found.map((place) => choices[place]?.value) }
}

function places({ choices }: FormField, chosen: readonly unknown[]): number[] {
  return choices.flatMap(({ value }, place) => (chosen.includes(value) ? [place] : []))
}

function messageOf(field: FormField): string {
  const { name, title, description, required, fallback } = field
  const empty =
    fallback !== undefined
      ? `; ${oneLine(fallbackText(field), 100)} when left empty`
      : required
        ? ""
        : "; may be left empty"
  const more = description === undefined ? "" : ` (${oneLine(description, 300)})`
  return `${oneLine(title ?? name, 200)}${more}: ${wanted(field)}${empty}`
}

/** What is about to be sent, with the defaults. */
function filledRows({ columns, paint }: Screen, filled: object): string[] {
  const limit = { characters: 4000, lines: 40 }
  return [
    ...ourRows("This is sent:", columns).map(paint.dim),
    ...Object.entries(filled).flatMap(
      ([name, value]) => theirRows(`${oneLine(name, 200)}: ${oneLine(valueText(value))}`, { columns, limit }).rows,
    ),
  ]
}
