import type { ReasonParams as Params } from "../core/reason.ts"
import { cardMessages } from "./cards.ts"
import { checkMessages } from "./checks.ts"
import { guardMessages } from "./guards.ts"
import { reasonMessages } from "./reasons.ts"
import { endingMessages, phrasePatterns, phrases, problemMessages } from "./problems.ts"

/** A sentence for people, as the API has it. */
interface Said {
  code: string
  params?: Params
  text: string
}

/** The sentences of the server in Chinese by their code, with `{name}` for its values. What is missing is said in English. */
export const chinese: Readonly<Record<string, string>> = {
  ...checkMessages,
  ...guardMessages,
  ...reasonMessages,
  ...cardMessages,
  ...problemMessages,
  ...endingMessages,
}

/** Sentences in which the person chooses a value. The others are as the server wrote them. */
const english: Readonly<Record<string, string>> = {
  remember_minutes:
    "Agent {agent} may call {tool}[, touching no more than: {touching}] in the folder {folder}, for {minutes} minutes.",
}

const sentences = { en: english, zh: chinese }
const commas = { en: ", ", zh: "、" }

const touchKinds: Readonly<Record<string, string>> = {
  read: "读取",
  write: "写入",
  command: "运行",
  host: "访问",
  database: "数据库",
}

/** Says a message in a language. English is what the server wrote, but for what the person chooses. */
export function translate({ code, params = {}, text }: Said, language: "en" | "zh"): string {
  const sentence = sentences[language][code]
  if (sentence === undefined) return text
  const say = (name: string, value: Params[string] | undefined) => {
    const all: readonly (string | number)[] = typeof value === "object" ? value : [value ?? ""]
    const inLanguage = language === "en" ? String : name === "touching" ? touchInChinese : wordInChinese
    return all.map(inLanguage).join(commas[language])
  }
  // A value that the server did not send would leave a hole in the sentence.
  const values: Params = { ...wordsOf(text), ...withinOf(params), ...params }
  const isWhole = (part: string) =>
    [...part.matchAll(/\{(\w+)\}/g)].every(([, name]) => values[name ?? ""] !== undefined)
  const said = sentence.replaceAll(/\[([^\]]*)\]/g, (_, part: string) => (isWhole(part) ? part : ""))
  if (!isWhole(said)) return text
  return said.replaceAll(/\{(\w+)\}/g, (_, name: string) => say(name, values[name]))
}

/** A value that is a word and not a name. */
function wordInChinese(value: string | number): string {
  const known = phrases[value]
  return known ?? phrasePatterns.reduce((text, [pattern, said]) => text.replace(pattern, said), String(value))
}

/** "write notes.md" */
function touchInChinese(touch: string | number): string {
  return String(touch).replace(/^\w+(?= )/, (kind) => touchKinds[kind] ?? kind)
}

/** Says why a call is asked about again: in English the note, in other languages its parts. */
export function translateNote(
  { note = "", again = [] }: { note?: string; again?: readonly Said[] },
  language: "en" | "zh",
): string {
  if (language === "en" || again.length === 0) return note
  const [first = "", ...changes] = again.map((part) => translate(part, language))
  return changes.length === 0 ? first : `${first}${changes.join("，")}。`
}

/** The server's own words inside its sentence: all of it, what follows the colon or "because", and what is quoted. */
function wordsOf(text: string): Params {
  const quoted = /'([^']+)'/.exec(text)?.[1]
  const rest = text.includes(": ") ? text.slice(text.indexOf(": ") + 2) : undefined
  const because = /\bbecause (.+?)(?:\.(?=\s|$)|$)/.exec(text)?.[1]
  return {
    text,
    ...(rest === undefined ? {} : { rest }),
    ...(because === undefined ? {} : { because }),
    ...(quoted === undefined ? {} : { quoted }),
  }
}

/** A number of minutes in the largest unit of which there are at least two. */
function withinOf({ minutes }: Params): Params {
  if (typeof minutes !== "number") return {}
  const hours = Math.floor(minutes / 60)
  const within = hours < 2 ? `${minutes} 分钟` : hours < 48 ? `${hours} 小时` : `${Math.floor(hours / 24)} 天`
  return { within }
}
