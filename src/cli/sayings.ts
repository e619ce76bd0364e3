import type { AnswerValue, Question } from "../model/approval.ts"
import { readForm } from "../model/form-reading.ts"
import type { JsonSchema } from "../model/schema.ts"
import { UsageError } from "./usage.ts"

/**
 * The words behind a question's id as its answer: the fields of its form, nothing for an address one agrees to, the
 * options they name where several may be chosen, or one text.
 */
export function readAnswer(words: readonly string[], question: Question | undefined): AnswerValue {
  const text = words.join(" ")
  if (question?.form !== undefined) return readFilledIn(words, question.form)
  if (question?.url !== undefined) return readAgreement(text)
  if (words.length === 0 && question !== undefined) throw new UsageError("Say what the answer is, behind the id.")
  if (question?.multiple !== true) return text
  const { options = [] } = question
  if (words.every((word) => options.includes(word))) return [...words]
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
}

function readFilledIn(words: readonly string[], form: JsonSchema): AnswerValue {
  const read = readForm(form, words)
  if ("wrong" in read) throw new UsageError(`${read.wrong} Nothing was answered.`)
  return read.value as AnswerValue
}

function readAgreement(text: string): AnswerValue {
  if (["", "{}"].includes(text.trim())) return {}
  throw new UsageError("There is nothing to fill in here. Give the id alone to agree, or reject it.")
}

/** `/a/b,/c` as JSON pointers. A comma parts two of them only where another one begins. */
export function splitPointers(text: string): string[] {
  return text.split(/,\s*(?=\/)/)
}

/** JSON, or the text itself where it is none. */
export function readReplacement(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
