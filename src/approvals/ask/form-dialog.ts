import type { QuestionDecision } from "../../core/approval.ts"
import { checkForm, fieldProblem, formFields, describeField, type FormField } from "../../schema/form.ts"
import { readField } from "../../schema/read-form.ts"
import type { JsonSchema } from "../../core/schema.ts"
import { askRejectReason } from "./call-dialog.ts"
import { oneLine, trustedRows, untrustedRows } from "./card-rows.ts"
import { choose, runPrompt, showCard, showNotice, promptText, type Screen } from "./dialog.ts"
import { choiceText, fallbackText, valueText } from "./form-rows.ts"

/** Asks for each field of a form, shows what was filled in, and returns it; undefined if the dialog was closed. */
export async function fillInForm(
  screen: Screen,
  form: JsonSchema,
  lines?: () => readonly string[],
): Promise<QuestionDecision | undefined> {
  if (lines !== undefined && !(await showCard(screen, lines))) return undefined
  const fields = formFields(form)
  const values = new Map<string, unknown>()
  for (;;) {
    if (!(await askAll(screen, fields, values))) return undefined
    const answer = Object.fromEntries(values)
    const checked = checkForm(form, answer)
    if (!checked.ok) {
      showNotice(screen, `It is not filled in as the form asks: ${checked.problems.join(", ")}.`)
      if (fields.length === 0) return undefined
      continue
    }
    const words = { a: "send", ...(fields.length > 0 && { e: "change" }), r: "reject" }
    const key = await choose(screen, filledRows(screen, checked.value as object), "Send this?", words, screen.escape)
    if (key === "a") return { answer }
    if (key === "r") return rejection(screen)
    if (key === undefined) return undefined
  }
}

/** Asks whether the person agrees to open an address. This does not open it. */
export async function agreeToOpen(screen: Screen, lines: readonly string[]): Promise<QuestionDecision | undefined> {
  const key = await choose(screen, lines, "Agree to open it yourself?", { a: "agree", r: "reject" }, screen.escape)
  if (key === undefined) return undefined
  return key === "a" ? { answer: {} } : rejection(screen)
}

/** Asks why a question is rejected; undefined if that was closed. */
export async function rejection(screen: Screen): Promise<QuestionDecision | undefined> {
  const rejectReason = await askRejectReason(screen)
  return rejectReason === undefined ? undefined : { rejectReason }
}

/** Asks for all fields, with the earlier value as the default; false if the person closed a prompt. */
async function askAll(screen: Screen, fields: readonly FormField[], values: Map<string, unknown>): Promise<boolean> {
  for (const field of fields) {
    const answer = await askField(screen, field, values.get(field.name))
    if (answer === undefined) return false
    if (answer === "left out") values.delete(field.name)
    else values.set(field.name, answer.value)
  }
  return true
}

type FieldAnswer = { value: unknown } | "left out" | undefined

async function askField(screen: Screen, field: FormField, before: unknown): Promise<FieldAnswer> {
  const ask = { one: askChoice, boolean: askChoice, several: askSeveral }[field.kind as string] ?? askText
  for (;;) {
    const answer = await ask(screen, field, before)
    const wrong = typeof answer === "object" ? fieldProblem(field, answer.value) : undefined
    if (wrong === undefined) return answer
    showNotice(screen, wrong)
  }
}

async function askText(screen: Screen, field: FormField, before: unknown): Promise<FieldAnswer> {
  const text = await promptText(screen, {
    message: messageOf(field),
    ...(before !== undefined && { initialValue: valueText(before) }),
    wrong(text) {
      if (text === "") return field.required && field.defaultValue === undefined ? "This field is required." : undefined
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

async function askChoice(screen: Screen, field: FormField, before: unknown): Promise<FieldAnswer> {
  const values = field.kind === "boolean" ? [true, false] : field.choices.map(({ value }) => value)
  const labels =
    field.kind === "boolean" ? ["yes", "no"] : field.choices.map((choice) => oneLine(choiceText(choice), 200))
  const options = labels.map((label, value) => ({ value, label }))
  if (!field.required && field.defaultValue === undefined) options.push({ value: leftOut, label: "(leave it out)" })
  const initialValue = values.indexOf(before ?? field.defaultValue)
  const place = await runPrompt<number>(screen, (prompts, common) =>
    prompts.select({ ...common, message: messageOf(field), options, ...(initialValue >= 0 && { initialValue }) }),
  )
  if (place === undefined) return undefined
  return place === leftOut ? "left out" : { value: values[place] }
}

async function askSeveral(screen: Screen, field: FormField, before: unknown): Promise<FieldAnswer> {
  const { choices, required, defaultValue } = field
  const options = choices.map((choice, value) => ({ value, label: oneLine(choiceText(choice), 200) }))
  const chosen = before ?? defaultValue
  const initialValues = Array.isArray(chosen) ? places(field, chosen) : []
  const found = await runPrompt<number[]>(screen, (prompts, common) =>
    prompts.multiselect({ ...common, message: messageOf(field), options, initialValues, required: false }),
  )
  if (found === undefined) return undefined
  if (found.length === 0 && !required && defaultValue === undefined) return "left out"
  return { value: found.map((place) => choices[place]?.value) }
}

function places({ choices }: FormField, chosen: readonly unknown[]): number[] {
  return choices.flatMap(({ value }, place) => (chosen.includes(value) ? [place] : []))
}

function messageOf(field: FormField): string {
  const { name, title, description, required, defaultValue } = field
  const empty =
    defaultValue !== undefined
      ? `; ${oneLine(fallbackText(field), 100)} when left empty`
      : required
        ? ""
        : "; may be left empty"
  const more = description === undefined ? "" : ` (${oneLine(description, 300)})`
  return `${oneLine(title ?? name, 200)}${more}: ${describeField(field)}${empty}`
}

/** The values that would be sent, with the defaults. */
function filledRows({ columns, paint }: Screen, filled: object): string[] {
  const limit = { characters: 4000, lines: 40 }
  return [
    ...trustedRows("This is sent:", columns).map(paint.dim),
    ...Object.entries(filled).flatMap(
      ([name, value]) => untrustedRows(`${oneLine(name, 200)}: ${oneLine(valueText(value))}`, { columns, limit }).rows,
    ),
  ]
}
