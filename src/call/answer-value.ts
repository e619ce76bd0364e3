import type { AnswerValue, Question } from "../model/approval.ts"
import { checkForm, formFields } from "../model/form.ts"
import { readField, type FieldRead } from "../model/form-reading.ts"
import { plainProblems } from "../model/plain.ts"
import type { JsonSchema } from "../model/schema.ts"

const longest = 1_000_000
const nothingToFillIn: JsonSchema = { type: "object", properties: {} }

/** What is kept of an answer to a question: a form with its defaults; or why the answer cannot count. */
export function answerTo(
  question: Question | undefined,
  value: AnswerValue,
): { value: AnswerValue } | { wrong: string } {
  const { options, multiple, form, url } = question ?? {}
  if (form !== undefined) return filledIn(form, value)
  if (url !== undefined) return agreedTo(value)
  const given: unknown = typeof value === "string" ? [value] : value
  if (!isTexts(given)) return { wrong: "An answer is a text, or a list of texts where several may be chosen." }
  if (typeof value !== "string" && multiple !== true) return { wrong: "One answer is asked for, not several." }
  const odd = options === undefined ? undefined : given.find((each) => !options.includes(each))
  return odd === undefined ? { value } : { wrong: `'${odd}' is not one of the options: ${options?.join(", ")}.` }
}

/** A form is filled in as its schema says. */
function filledIn(form: JsonSchema, given: AnswerValue): { value: AnswerValue } | { wrong: string } {
  const read = fieldsOf(form, given)
  if ("wrong" in read) return read
  const unfit = plainProblems(read.value)
  if (unfit.length > 0) return { wrong: `The answer cannot be kept: ${unfit.join(", ")}. Give plain JSON.` }
  const { length } = JSON.stringify(read.value)
  if (length > longest) return { wrong: `The answer has ${length} characters, and ${longest} are the most.` }
  const checked = checkForm(form, read.value)
  if (checked.ok) return { value: checked.value as AnswerValue }
  return { wrong: `The form is not filled in as it asks: ${checked.problems.join(", ")}.` }
}

/** Where a form has one field, that one alone answers it: a text by its type, or a list of choices. */
function fieldsOf(form: JsonSchema, given: AnswerValue): FieldRead {
  if (isFields(given)) return { value: given }
  const [only, ...others] = formFields(form)
  if (only === undefined || others.length > 0) return { wrong: "A form is answered with an object of its fields." }
  const read = typeof given === "string" ? readField(only, given) : { value: given }
  return "wrong" in read ? read : { value: { [only.name]: read.value } }
}

function agreedTo(value: AnswerValue): { value: AnswerValue } | { wrong: string } {
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
