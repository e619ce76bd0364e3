import type { AnswerValue, DeskItem, Question, Saying } from "../model/approval.ts"
import { checkForm, formFields } from "../model/form.ts"
import { readForm } from "../model/form-reading.ts"
import type { GrantScope } from "../model/rule.ts"
import type { JsonSchema } from "../model/schema.ts"
import { readInput } from "./edit-input.ts"
import { readRedactions } from "./redactions.ts"

type VerbName = "approve" | "edit" | "reject" | "release" | "redact" | "replace" | "withhold" | "answer" | "show"

/** A line of a chat that is meant for a card. */
export interface Reply {
  verb: VerbName
  code: string
  rest: string
}

/** What a reply means for its card; a sentence when it was meant for it and cannot count; undefined when it was not. */
export type Meaning = Saying | "show" | { sentence: string } | undefined

/** Reads a reply: a verb, a code and what belongs to it, spelled exactly. Anything else is left alone. */
export function readReply(text: string): Reply | undefined {
  const [, verb, code, rest = ""] = /^([a-z]+) ([A-Z2-9]+)(?:[ \n](\S[^]*))?$/.exec(text.trim()) ?? []
  if (verb === undefined || code === undefined || !Object.hasOwn(meanings, verb)) return undefined
  return { verb: verb as VerbName, code, rest }
}

export function meaningOf({ verb, rest }: Reply, item: DeskItem): Meaning {
  const { kinds, read } = meanings[verb]
  return kinds.includes(item.kind) ? read(rest, item) : undefined
}

/** The replies that count for a card, one a line. */
export function repliesTo(item: DeskItem, code: string): string[] {
  const why = "because <why; the model reads it>"
  if (item.kind === "result") {
    return [
      `release ${code}`,
      `redact ${code} <JSON pointers, such as /rows/0/name, /total>`,
      `replace ${code} <the text that the model gets instead>`,
      `withhold ${code} ${why}`,
      `show ${code}`,
    ]
  }
  if (item.kind === "question") {
    if (item.question?.form !== undefined || item.question?.url !== undefined) {
      return [...formReplies(item.question, code), `reject ${code} ${why}`, `show ${code}`]
    }
    const choices = item.question?.multiple === true ? "<numbers of options, such as 1, 2>" : "<number of an option>"
    const isOpen = (item.question?.options ?? []).length === 0
    return [`answer ${code} ${isOpen ? "<your answer>" : choices}`, `reject ${code} ${why}`, `show ${code}`]
  }
  return [
    `approve ${code}`,
    ...item.remember.map(({ scope }) => `approve ${code} ${scopeWords[scope]}`),
    ...(item.input === undefined ? [] : [`edit ${code} <the whole input as JSON>`]),
    `reject ${code} ${why}`,
    `show ${code}`,
  ]
}

const scopeWords: Record<GrantScope, string> = {
  "input-session": "same input",
  "tool-session": "for this session",
  "tool-always": "always",
}

interface Verb {
  kinds: readonly DeskItem["kind"][]
  read(rest: string, item: DeskItem): Meaning
}

const meanings: Record<VerbName, Verb> = {
  approve: { kinds: ["call"], read: approve },
  edit: { kinds: ["call"], read: edit },
  reject: { kinds: ["call", "question"], read: (rest) => no("reject", rest) },
  release: { kinds: ["result"], read: (rest) => (rest === "" ? { say: "release" } : undefined) },
  redact: { kinds: ["result"], read: redact },
  replace: { kinds: ["result"], read: (rest) => (rest === "" ? undefined : { say: "release", replace: rest }) },
  withhold: { kinds: ["result"], read: (rest) => no("withhold", rest) },
  answer: { kinds: ["question"], read: answer },
  show: { kinds: ["call", "result", "question"], read: (rest) => (rest === "" ? "show" : undefined) },
}

function approve(rest: string, { remember }: DeskItem): Meaning {
  if (rest === "") return { say: "approve" }
  const scope = (Object.keys(scopeWords) as GrantScope[]).find((one) => scopeWords[one] === rest)
  if (scope === undefined) return undefined
  if (remember.some((one) => one.scope === scope)) return { say: "approve", remember: scope }
  return { sentence: `This yes cannot be remembered "${rest}". Nothing was answered.` }
}

function edit(rest: string): Meaning {
  if (rest === "") return undefined
  const read = readInput(rest)
  return "wrong" in read ? { sentence: `${read.wrong} Nothing was answered.` } : { say: "edit", input: read.input }
}

function no(say: "reject" | "withhold", rest: string): Meaning {
  if (rest === "") return { say }
  const [, reason] = /^because (\S[^]*)$/.exec(rest) ?? []
  return reason === undefined ? undefined : { say, reason }
}

function redact(rest: string, { result }: DeskItem): Meaning {
  if (rest === "") return undefined
  const read = readRedactions(rest, result)
  return "wrong" in read ? { sentence: `${read.wrong} Nothing was answered.` } : { say: "release", redact: read.redact }
}

function answer(rest: string, { question }: DeskItem): Meaning {
  const options = question?.options ?? []
  if (rest === "") return undefined
  if (question?.form !== undefined) return fillIn(rest, question.form)
  if (question?.url !== undefined) return rest === "agree" ? { say: "answer", value: {} } : undefined
  if (options.length === 0) return { say: "answer", value: rest }
  const one = optionOf(rest, options)
  const several = one === undefined ? rest.split(",").map((part) => optionOf(part.trim(), options)) : [one]
  const chosen = several.filter((option) => option !== undefined)
  if (chosen.length < several.length || (question?.multiple !== true && chosen.length > 1)) {
    const many = question?.multiple === true ? "some of the options, with commas between them" : "one of the options"
    return { sentence: `Answer with ${many}, by number or word for word. Nothing was answered.` }
  }
  return { say: "answer", value: question?.multiple === true ? [...new Set(chosen)] : chosen[0]! }
}

/** What does not fit is said and answers nothing, so that the person can write it again. */
function fillIn(rest: string, form: JsonSchema): Meaning {
  const lines = rest.split("\n").filter((line) => line.trim() !== "")
  const read = readForm(form, lines, { between: "\n", numbered: true })
  if ("wrong" in read) return { sentence: `${read.wrong} Nothing was answered.` }
  const checked = checkForm(form, read.value)
  if (checked.ok) return { say: "answer", value: read.value as AnswerValue }
  return { sentence: `The form is not filled in as it asks: ${checked.problems.join(", ")}. Nothing was answered.` }
}

function formReplies({ form }: Question, code: string): string[] {
  if (form === undefined) return [`answer ${code} agree`]
  if (formFields(form).length === 1) return [`answer ${code} <your answer, or the number of a choice>`]
  return [`answer ${code} <name=value, each field on a line of its own; or the whole form as a JSON object>`]
}

/** An option by its words, else by its number. */
function optionOf(text: string, options: readonly string[]): string | undefined {
  if (options.includes(text)) return text
  return /^[1-9]\d*$/.test(text) ? options[Number(text) - 1] : undefined
}
