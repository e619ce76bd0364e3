import { useCallback } from "react"
import type { Problem } from "../../../src/interfaces/http/routes/schemas.ts"
import { translate } from "../../../src/messages/translate.ts"
import { problemOf } from "../api/http.ts"
import { useLanguage, type Language } from "./words.tsx"

/** A function that says in the person's language what went wrong. */
export function useProblemText(): (error: unknown) => string {
  const { language } = useLanguage()
  return useCallback((error: unknown) => problemText(problemOf(error), language), [language])
}

/** Translates the server's refusal; in English where it has no translation. */
export function problemText(
  { code = "", params, detail }: Pick<Problem, "code" | "params" | "detail">,
  language: Language,
): string {
  return translate({ code: `problem_${code}`, params, text: detail }, language)
}

/** Describes the ending of a call, in a language. A tool's own words stay as they are. */
export function endedText({ code = "", error = "" }: { code?: string; error?: string }, language: Language): string {
  return translate({ code: `ended_${code}`, text: error }, language)
}

const patterns: readonly (readonly [pattern: RegExp, chinese: string])[] = [
  [/^Missing required parameter: (.+)$/, "缺少必填参数：$1"],
  [/^Parameter '([^']+)' expected (.+), got (.+)$/, "参数“$1”应为 $2，实际是 $3"],
  [/^Parameter '([^']+)' must be one of: (.+)$/s, "参数“$1”只能是其中之一：$2"],
  [/^Unknown parameter '([^']+)'\. Did you mean '([^']+)'\?$/, "没有参数“$1”。是不是“$2”？"],
  [/^Unknown parameter '([^']+)'.*$/s, "没有参数“$1”。"],
  [/^Parameter '([^']+)' .+$/s, "参数“$1”不正确：$&"],
]

/** Translates a validator's problem with one parameter. */
export function parameterText(sentence: string, language: Language): string {
  const known = language === "en" ? undefined : patterns.find(([pattern]) => pattern.test(sentence))
  return known === undefined ? sentence : sentence.replace(known[0], known[1])
}
