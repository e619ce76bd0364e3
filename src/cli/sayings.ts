import type { Question } from "../model/approval.ts"

/** The words behind a question's id as its answer: one text, or the options they name where several may be chosen. */
export function readAnswer(words: readonly string[], question: Question | undefined): string | string[] {
  const text = words.join(" ")
  if (question?.multiple !== true) return text
  const { options = [] } = question
  if (words.every((word) => options.includes(word))) return [...words]
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
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
