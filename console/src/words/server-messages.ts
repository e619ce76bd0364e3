import type { Message } from "../../../src/http/api/schemas.ts"

type Params = NonNullable<Message["params"]>

const list = (value: Params[string] | undefined) => (Array.isArray(value) ? value.join("、") : String(value ?? ""))

/** Sentences of the server by their code, with `{name}` for its values. What is missing is said in English. */
const chinese: Readonly<Record<string, string>> = {}

/** Says a message in a language. English is what the server wrote. */
export function translate({ code, params = {}, text }: Message, language: "en" | "zh"): string {
  const sentence = language === "zh" ? chinese[code] : undefined
  if (sentence === undefined) return text
  const names = [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "")
  // A value that the server did not send would leave a hole in the sentence.
  if (names.some((name) => params[name] === undefined)) return text
  return sentence.replaceAll(/\{(\w+)\}/g, (_, name: string) => list(params[name]))
}
