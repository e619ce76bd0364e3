import { optionOf } from "../../../../lib/option-of.ts"
import type { AnswerValue, Question } from "../../../../core/approval.ts"
import type { JsonSchema } from "../../../../core/schema.ts"
import { UsageError } from "../../common/usage.ts"

/**
 * Reads the words after a question's id: the fields of its form, nothing for a URL to agree to, options by number or word for
 * word, otherwise one text.
 */
export async function readAnswer(words: readonly string[], question: Question | undefined): Promise<AnswerValue> {
  const text = words.join(" ")
  if (question?.form !== undefined) return readFilledIn(words, question.form)
  if (question?.url !== undefined) return readAgreement(text)
  if (words.length === 0 && question !== undefined)
    throw new UsageError("The answer is missing. Write it after the id.")
  const { options = [], multiple } = question ?? {}
  const chosen = (part: string) => optionOf(part, options) ?? part
  if (multiple !== true) return chosen(text)
  if (words.every((word) => options.includes(word))) return [...words]
  return text
    .split(",")
    .map((part) => chosen(part.trim()))
    .filter((part) => part !== "")
}

async function readFilledIn(words: readonly string[], form: JsonSchema): Promise<AnswerValue> {
  const { readForm } = await import("../../../../schema/read-form.ts")
  const read = readForm(form, words)
  if ("wrong" in read) throw new UsageError(`${read.wrong} No answer was sent.`)
  return read.value as AnswerValue
}

function readAgreement(text: string): AnswerValue {
  if (["", "{}"].includes(text.trim())) return {}
  throw new UsageError("This question takes no text. Give only the id to agree, or use 'qm approvals reject'.")
}

/** Splits `/a/b,/c` into JSON pointers. A comma separates two only if a `/` follows. */
export function splitPointers(text: string): string[] {
  return text.split(/,\s*(?=\/)/)
}

/** Parses JSON; text that is not JSON is returned as it is. */
export function readReplacement(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
