import { randomBytes } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { sendReply } from "../../../lib/http-reply.ts"
import type { AnswerLink } from "../../../approvals/links/answer-link.ts"
import type { Answer, PendingItem } from "../../../core/approval.ts"
import { cardsOf } from "../routes/approvals.ts"
import { callerOfPerson } from "../routes/caller.ts"
import type { Api } from "../routes/endpoint.ts"
import type { HttpProblem } from "../routes/problem.ts"
import { namesOf, findOutcome } from "../routes/gone.ts"
import { readBody } from "../transport/read-body.ts"
import { minutes, sayIn } from "./answer-card.ts"
import { formHtml, noticeHtml, pageHtml, type Notice } from "./answer-html.ts"
import { linkState, yesNeeds, type LinkState } from "../../../approvals/links/answer-rules.ts"
import { wordsFor, type Words } from "../../../messages/answer-page.ts"
import type { Html } from "./html.ts"

/** The most unknown links that are looked up in a minute. A link has 256 bits: this only makes noise visible. */
const mostUnknown = 20

interface Page {
  status: number
  title: string
  content: Html
}

/**
 * Serves `/answer/<secret>`. GET only shows what waits, because chat apps and mail scanners open links; POST answers.
 * Returns false for every other path.
 */
export function answerPages(
  api: Api,
  maxBodyBytes: number,
): (path: string, request: IncomingMessage, response: ServerResponse) => boolean {
  let unknown: number[] = []
  const isTooMuch = () => {
    unknown = [...unknown.filter((at) => at > api.now() - 60_000), api.now()]
    return unknown.length > mostUnknown
  }
  const pageFor = async (secret: string, words: Words, form: URLSearchParams | undefined): Promise<Page> => {
    const link = await api.app.answerLinks.find(secret)
    if (link === undefined) {
      if (isTooMuch()) return notice(429, { title: words.tooMany, sentences: [words.tooManyMore] }, words)
      return notice(404, { title: words.unknown, sentences: [words.unknownMore], next: newLink(words) }, words)
    }
    return form === undefined ? show(api, link, words) : answer(api, secret, link, words, form)
  }
  return (path, request, response) => {
    const secret = /^\/answer\/([\w-]{1,200})$/.exec(path)?.[1]
    if (secret === undefined) return false
    const { headers, method = "GET", url = "" } = request
    const words = wordsFor(headers["accept-language"], new URL(url, "http://here").searchParams.get("lang"))
    const send = (page: Promise<Page> | Page) =>
      Promise.resolve(page).then(
        (made) => reply(response, made, words),
        () => reply(response, notice(503, { title: words.badForm, sentences: [words.badFormMore] }, words), words),
      )
    if (method === "GET" || method === "HEAD") void send(pageFor(secret, words, undefined))
    else if (method !== "POST" || !/^application\/x-www-form-urlencoded\b/i.test(headers["content-type"] ?? ""))
      void send(notice(method === "POST" ? 415 : 405, { title: words.badForm, sentences: [words.badFormMore] }, words))
    else
      readBody(request, maxBodyBytes).then(
        (body) => send(pageFor(secret, words, new URLSearchParams(body.toString("utf8")))),
        ({ status }: HttpProblem) =>
          send(notice(status, { title: words.badForm, sentences: [words.badFormMore] }, words)),
      )
    return true
  }
}

/** The item of the link, and what it leads to. */
async function look(api: Api, link: AnswerLink) {
  const caller = callerOfPerson(api.app, link.person, link.isMachineUser)
  const item = link.state === "open" ? await api.app.approvals.show(link.callId) : undefined
  return { caller, item, state: linkState(link, item, caller.scopes.includes("approve")) }
}

async function show(api: Api, link: AnswerLink, words: Words, problem?: string): Promise<Page> {
  const { caller, item, state } = await look(api, link)
  if (state !== "open" || item === undefined) return over(api, link, state, item, words)
  const [card] = cardsOf(api, caller, [item])
  const yes = yesNeeds(card!, api.app.pins.isSet(link.person))
  const until = Math.min(link.expiresAt, item.until)
  const content = formHtml({ card: card!, yes, until, now: api.now(), consoleUrl: consoleUrl(link), problem }, words)
  return { status: problem === undefined ? 200 : 422, title: words.answer, content }
}

async function answer(api: Api, secret: string, link: AnswerLink, words: Words, form: URLSearchParams): Promise<Page> {
  const { caller, item, state } = await look(api, link)
  if (state !== "open" || item === undefined) return over(api, link, state, item, words)
  const { app } = api
  const again = async (problem: string) => show(api, (await app.answerLinks.find(secret)) ?? link, words, problem)
  const said = form.get("say") === "yes" ? "yes" : form.get("say") === "no" ? "no" : undefined
  if (said === undefined) return again(words.noAnswer)
  if (said === "yes") {
    const [card] = cardsOf(api, caller, [item])
    const { needs, ...more } = yesNeeds(card!, app.pins.isSet(link.person))
    if (needs === "console") return again("because" in more ? words.only[more.because] : "")
    if (needs === "pin") {
      const checked = await app.pins.check(link.person, form.get("pin") ?? "")
      if (!checked.ok && checked.why === "locked") return again(words.lockedPin)
      if (!checked.ok) {
        await app.answerLinks.countWrongPin(link.id)
        return again(words.wrongPin(Math.min(checked.left, link.pinTries - 1)))
      }
    }
  }
  const value = answerOf(item, said, form)
  if (value === undefined) return again(words.noAnswer)
  const answered = await app.approvals.answer(link.callId, value, link.person, link.revision, "link")
  if (!answered.ok) return again(words.notCounted(answered.sentence))
  await app.answerLinks.use(link.id, said)
  const { code, params, sentence } = answered
  // The call of a caller that is not here goes on when that comes back.
  const isSettled = code === "answer_settled"
  const next = isSettled ? words.doneMore[said][link.kind] : sayIn(words)({ code, params, text: sentence })
  const sentences = [next, words.close]
  return notice(200, { title: words.done[said][link.kind], sentences }, words)
}

/** Reads the answer from the form. Returns undefined when a question is not answered. */
function answerOf({ kind, question }: PendingItem, said: "yes" | "no", form: URLSearchParams): Answer | undefined {
  if (kind === "call") return said === "yes" ? { kind: "approve" } : { kind: "reject" }
  if (kind === "result") return said === "yes" ? { kind: "release" } : { kind: "withhold" }
  if (said === "no") return { kind: "reject" }
  const values = form.getAll("value").filter((value) => value.trim() !== "")
  if (values.length === 0) return undefined
  return { kind: "answer", value: question?.multiple === true ? values : values[0]! }
}

/** Says why the link leads to nothing any more, and who was first. */
async function over(
  api: Api,
  link: AnswerLink,
  state: LinkState,
  item: PendingItem | undefined,
  words: Words,
): Promise<Page> {
  const { app, now } = api
  const next = newLink(words, link.callId)
  const nameOf = (id: string) => app.org.findPerson(id)?.name ?? id
  const ago = (at: number) => words.ago(minutes(now() - at))
  switch (state) {
    case "used": {
      const did = words.did[didOf(link)]
      const sentence = words.usedMore(nameOf(link.person), did, ago(link.usedAt ?? now()))
      const stop = { sentence: words.usedNotYou, command: "qm freeze" }
      return notice(410, { title: words.used, sentences: [sentence], next: stop }, words)
    }
    case "gone": {
      const { why, by, did = "answered", at } = await findOutcome(app, link.callId)
      const sentence =
        why === "expired"
          ? words.goneExpired
          : by === undefined
            ? words.goneOther
            : words.goneBy(namesOf(app, by), words.did[did], ago(at ?? now()))
      return notice(410, { title: words.gone, sentences: [sentence] }, words)
    }
    case "changed": {
      const edited = item?.editedBy === undefined ? [] : [words.changedBy(nameOf(item.editedBy))]
      const sentences = [...edited, words.changedMore(link.revision, item?.revision ?? link.revision)]
      return notice(409, { title: words.changed, sentences, next, consoleUrl: consoleUrl(link) }, words)
    }
    case "void":
      return notice(410, { title: words.void, sentences: [words.voidMore] }, words)
    case "expired":
    case "ended": {
      const sentences = [words[`${state}More`]]
      return notice(410, { title: words[state], sentences, next, consoleUrl: consoleUrl(link) }, words)
    }
    case "open":
      return notice(410, { title: words.gone, sentences: [words.goneOther] }, words)
  }
}

function didOf({ kind, said }: AnswerLink) {
  if (said === "no") return kind === "result" ? "withheld" : "rejected"
  return ({ call: "approved", result: "released", question: "answered" } as const)[kind]
}

/** Relative, so that it leads to wherever the page was opened. */
function consoleUrl({ callId }: AnswerLink): string {
  return `/inbox/${encodeURIComponent(callId)}`
}

function newLink(words: Words, callId = "<id>"): Notice["next"] {
  return { sentence: words.next, command: `qm approvals link ${callId.slice(0, 13)}` }
}

function notice(status: number, given: Notice, words: Words): Page {
  return { status, title: given.title, content: noticeHtml(given, words) }
}

function reply(response: ServerResponse, { status, title, content }: Page, words: Words): void {
  const nonce = randomBytes(16).toString("base64")
  const text = pageHtml(title, content, words, nonce)
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-language": words.lang,
    "cache-control": "no-store",
    vary: "accept-language",
    "content-security-policy": `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    // Not no-referrer, with which browsers send forms without their origin. Other sites learn nothing.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-robots-tag": "noindex",
    ...(status === 429 ? { "retry-after": "60" } : {}),
  }
  void sendReply(response, { status, headers, body: text })
}
