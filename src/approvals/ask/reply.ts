import { optionOf } from "../../lib/option-of.ts"
import type { AnswerValue, PendingItem, Question, Answer } from "../../core/approval.ts"
import { checkForm, formFields } from "../../schema/form.ts"
import { readForm } from "../../schema/read-form.ts"
import { grantMinutes, type GrantScope } from "../../core/rule.ts"
import type { JsonSchema } from "../../core/schema.ts"
import { parseEditedInput } from "./edited-input.ts"
import { readRedactions } from "./redactions.ts"

type VerbName = "approve" | "edit" | "reject" | "release" | "redact" | "replace" | "withhold" | "answer" | "show"

/** A chat message that answers a card: a verb, the code of the card, and the rest. */
export interface Reply {
  verb: VerbName
  code: string
  rest: string
}

/** The meaning of a reply: an answer; a sentence that says why it does not count; undefined if it is not a reply to the card. */
export type ReplyMeaning = Answer | "show" | { sentence: string } | undefined

/** Reads a reply that is spelled exactly; undefined for any other message. */
export function readReply(text: string): Reply | undefined {
  const [, verb, code, rest = ""] = /^([a-z]+) ([A-Z2-9]+)(?:[ \n](\S[^]*))?$/.exec(text.trim()) ?? []
  if (verb === undefined || code === undefined || !Object.hasOwn(meanings, verb)) return undefined
  return { verb: verb as VerbName, code, rest }
}

export function interpretReply({ verb, rest }: Reply, item: PendingItem): ReplyMeaning {
  const { kinds, read } = meanings[verb]
  return kinds.includes(item.kind) ? read(rest, item) : undefined
}

/** The replies that a card can be answered with. */
export function allowedReplies(item: PendingItem, code: string): string[] {
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
  task: "for this task",
  minutes: `for ${grantMinutes.usual} minutes`,
  "tool-always": "always",
}

interface Verb {
  kinds: readonly PendingItem["kind"][]
  read(rest: string, item: PendingItem): ReplyMeaning
}

const meanings: Record<VerbName, Verb> = {
  approve: { kinds: ["call"], read: approve },
  edit: { kinds: ["call"], read: edit },
  reject: { kinds: ["call", "question"], read: (rest) => no("reject", rest) },
  release: { kinds: ["result"], read: (rest) => (rest === "" ? { kind: "release" } : undefined) },
  redact: { kinds: ["result"], read: redact },
  replace: { kinds: ["result"], read: (rest) => (rest === "" ? undefined : { kind: "release", replace: rest }) },
  withhold: { kinds: ["result"], read: (rest) => no("withhold", rest) },
  answer: { kinds: ["question"], read: answer },
  show: { kinds: ["call", "result", "question"], read: (rest) => (rest === "" ? "show" : undefined) },
}

function approve(rest: string, { remember }: PendingItem): ReplyMeaning {
  if (rest === "") return { kind: "approve" }
  const minutes = Number(/^for (\d{1,3}) minutes?$/.exec(rest)?.[1])
  const isTime = minutes >= grantMinutes.least && minutes <= grantMinutes.most
  const scope = isTime ? "minutes" : (Object.keys(scopeWords) as GrantScope[]).find((each) => scopeWords[each] === rest)
  if (scope === undefined) return undefined
  if (remember.some((offered) => offered.scope === scope))
    return { kind: "approve", remember: scope, ...(isTime ? { minutes } : {}) }
  return { sentence: `This yes cannot be remembered "${rest}". Nothing was answered.` }
}

function edit(rest: string): ReplyMeaning {
  if (rest === "") return undefined
  const read = parseEditedInput(rest)
  return "wrong" in read ? { sentence: `${read.wrong} Nothing was answered.` } : { kind: "edit", input: read.input }
}

function no(kind: "reject" | "withhold", rest: string): ReplyMeaning {
  if (rest === "") return { kind }
  const [, reason] = /^because (\S[^]*)$/.exec(rest) ?? []
  return reason === undefined ? undefined : { kind, reason }
}

function redact(rest: string, { result }: PendingItem): ReplyMeaning {
  if (rest === "") return undefined
  const read = readRedactions(rest, result)
  return "wrong" in read
    ? { sentence: `${read.wrong} Nothing was answered.` }
    : { kind: "release", redact: read.redact }
}

function answer(rest: string, { question }: PendingItem): ReplyMeaning {
  const options = question?.options ?? []
  if (rest === "") return undefined
  if (question?.form !== undefined) return fillIn(rest, question.form)
  if (question?.url !== undefined) return rest === "agree" ? { kind: "answer", value: {} } : undefined
  if (options.length === 0) return { kind: "answer", value: rest }
  const single = optionOf(rest, options)
  const parts = single === undefined ? rest.split(",").map((part) => optionOf(part.trim(), options)) : [single]
  const chosen = parts.filter((option) => option !== undefined)
  if (chosen.length < parts.length || (question?.multiple !== true && chosen.length > 1)) {
    const many = question?.multiple === true ? "some of the options, with commas between them" : "one of the options"
    return { sentence: `Answer with ${many}, by number or word for word. Nothing was answered.` }
  }
  return { kind: "answer", value: question?.multiple === true ? [...new Set(chosen)] : chosen[0]! }
}

/** Reads a filled-in form. If it does not fit, a sentence says why, and the person can reply again. */
function fillIn(rest: string, form: JsonSchema): ReplyMeaning {
  const lines = rest.split("\n").filter((line) => line.trim() !== "")
  const read = readForm(form, lines, { separator: "\n", numbered: true })
  if ("wrong" in read) return { sentence: `${read.wrong} Nothing was answered.` }
  const checked = checkForm(form, read.value)
  if (checked.ok) return { kind: "answer", value: read.value as AnswerValue }
  return { sentence: `The form is not filled in as it asks: ${checked.problems.join(", ")}. Nothing was answered.` }
}

function formReplies({ form }: Question, code: string): string[] {
  if (form === undefined) return [`answer ${code} agree`]
  if (formFields(form).length === 1) return [`answer ${code} <your answer, or the number of a choice>`]
  return [`answer ${code} <name=value, each field on a line of its own; or the whole form as a JSON object>`]
}
