import type { AnswerValue, Question } from "../../core/approval.ts"
import { checkForm, formFields } from "../../schema/form.ts"
import { readField, type FieldResult } from "../../schema/read-form.ts"
import { plainProblems } from "../../schema/json-problems.ts"
import type { JsonSchema } from "../../core/schema.ts"

const longest = 1_000_000
const nothingToFillIn: JsonSchema = { type: "object", properties: {} }

/** Checks an answer to a question: returns the value to store, a form with its defaults filled in, or why it is wrong. */
export function checkAnswer(
  question: Question | undefined,
  value: AnswerValue,
): { value: AnswerValue } | { wrong: string } {
  const { options, multiple, form, url } = question ?? {}
  if (form !== undefined) return checkFormAnswer(form, value)
  if (url !== undefined) return checkUrlAnswer(value)
  const given: unknown = typeof value === "string" ? [value] : value
  if (!isTexts(given)) return { wrong: "An answer is a text, or a list of texts where several may be chosen." }
  if (typeof value !== "string" && multiple !== true) return { wrong: "One answer is asked for, not several." }
  const unknown = options === undefined ? undefined : given.find((each) => !options.includes(each))
  return unknown === undefined
    ? { value }
    : { wrong: `'${unknown}' is not one of the options: ${options?.join(", ")}.` }
}

function checkFormAnswer(form: JsonSchema, given: AnswerValue): { value: AnswerValue } | { wrong: string } {
  const read = fieldsOf(form, given)
  if ("wrong" in read) return read
  const notJson = plainProblems(read.value)
  if (notJson.length > 0) return { wrong: `The answer cannot be stored: ${notJson.join(", ")}. Give plain JSON.` }
  const { length } = JSON.stringify(read.value)
  if (length > longest) return { wrong: `The answer has ${length} characters, and ${longest} are the most.` }
  const checked = checkForm(form, read.value)
  if (checked.ok) return { value: checked.value as AnswerValue }
  return { wrong: `The form is not filled in as it asks: ${checked.problems.join(", ")}.` }
}

/** The fields of the answer. A form with one field may be answered with the value alone: a text or a list of choices. */
function fieldsOf(form: JsonSchema, given: AnswerValue): FieldResult {
  if (isFields(given)) return { value: given }
  const [only, ...more] = formFields(form)
  if (only === undefined || more.length > 0) return { wrong: "A form is answered with an object of its fields." }
  const read = typeof given === "string" ? readField(only, given) : { value: given }
  return "wrong" in read ? read : { value: { [only.name]: read.value } }
}

function checkUrlAnswer(value: AnswerValue): { value: AnswerValue } | { wrong: string } {
  const isEmpty = isFields(value) && checkForm(nothingToFillIn, value).ok
  return isEmpty
    ? { value: {} }
    : { wrong: "An address is agreed to with an empty object, or rejected; there is nothing to fill in here." }
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string" && each.isWellFormed())
}
