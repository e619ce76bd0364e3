import { translate, translateNote } from "../../../messages/translate.ts"
import type { Card, Preview, Touch } from "../../../approvals/card/schema.ts"
import type { Message } from "../../../messages/message.ts"
import { html, type Html } from "./html.ts"
import type { Words } from "../../../messages/answer-page.ts"

export const gate = html`<svg viewBox="0 0 24 24" aria-hidden="true">
  <path d="M5 4v16M9.7 4v16M14.3 4v16M19 4v16" />
  <path class="bar" d="M2 17.5 22 6.5" />
</svg>`

/** Renders a waiting item like the console's card: who asks, what the agent says, what we found. */
export function cardHtml(card: Card, words: Words, now: number): Html {
  const say = sayIn(words)
  const { agent, risk, intent } = card
  return html`<header>
      <div class="facts">
        <span class="risk ${risk.band}"
          ><span class="bars" aria-hidden="true"><i></i><i></i><i></i></span>${words.risk[risk.band]}</span
        >
        <span>${agent.ancestors.toReversed().map((id) => html`${id} &rsaquo; `)}<b>${agent.id}</b></span>
        <span>${words.asked(minutes(now - card.createdAt))}</span>
        ${card.revision > 1 && html`<span>${words.revision(card.revision)}</span>`}
        ${card.editedBy !== undefined && html`<span>${words.editedBy(card.editedBy)}</span>`}
      </div>
      <h1>${say(card.title)}</h1>
    </header>
    ${
      intent !== undefined &&
      html`<section class="says">
        <h2>${words.says} <span class="tag said">${words.notVerified}</span></h2>
        <p>&ldquo;${intent}&rdquo;</p>
      </section>`
    }
    ${card.question === undefined && foundHtml(card, words, say)}`
}

/** Says messages of the server in the language of the page. */
export function sayIn({ lang }: Words): (message: Parameters<typeof translate>[0]) => string {
  return (message) => translate(message, lang === "en" ? "en" : "zh")
}

/** Whole minutes of a time. */
export function minutes(milliseconds: number): number {
  return Math.max(0, Math.floor(milliseconds / 60_000))
}

function foundHtml(card: Card, words: Words, say: (message: Message) => string): Html {
  const { preview, input, result, touches, reasons, proved } = card
  const shown = preview === undefined ? inputHtml(input) : previewHtml(preview, say)
  return html`<section class="found">
    <h2>${gate}${words.found}</h2>
    ${shown && html`<div class="well">${shown}</div>`}
    ${
      result !== undefined &&
      html`<div class="well">
        <h3>${words.result}</h3>
        <pre>${result.text}</pre>
      </div>`
    }
    <dl>
      ${touchRows(touches, words)}
      ${
        !proved &&
        html`<dt>${words.also}</dt>
          <dd>${words.perhapsMore}</dd>`
      }
      <dt>${words.why}</dt>
      <dd>
        ${reasons.map(({ message, binding }) => html`<p>${say(message)} ${binding && html`<span class="tag">${words.everyTime}</span>`}</p>`)}
        ${card.note !== undefined && html`<p>${translateNote(card, words.lang === "en" ? "en" : "zh")}</p>`}
      </dd>
    </dl>
  </section>`
}

/** The fields of an input without a preview. */
function inputHtml(input: unknown): Html | undefined {
  if (typeof input !== "object" || input === null || Object.keys(input).length === 0) return undefined
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, null, 2))
  return html`${Object.entries(input).map(
    ([name, value]) =>
      html`<h3>${name}</h3>
        <pre>${text(value)}</pre>`,
  )}`
}

function previewHtml(preview: Preview, say: (message: Message) => string): Html {
  switch (preview.kind) {
    case "command":
      return html`${preview.parts.map(
        ({ operator, text, mark, notes }, index) =>
          html`<div class="part part-${mark}">
            <span>${index + 1}</span>
            <div>
              <pre>${operator !== "" && `${operator} `}<b>${text}</b></pre>
              ${notes.map((note) => html`<p>${say(note)}</p>`)}
            </div>
          </div>`,
      )}
      ${preview.details.map((line) => html`<h3>${say(line)}</h3>`)}`
    case "diff":
      return html`${preview.files.map(
        ({ path, diff, added, removed }) =>
          html`<h3>${path} +${added} &minus;${removed}</h3>
            <pre>${diffLines(diff)}</pre>`,
      )}`
    case "request": {
      const { method, url, headers = {}, body } = preview
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
      return html`<pre><b>${method}</b> ${url}${lines.map((line) => `\n${line}`)}${body !== undefined && `\n\n${body}`}</pre>`
    }
    case "text":
      return html`<pre>${preview.text}</pre>`
    case "image":
      return html``
  }
}

/** The changed lines of a unified diff, without its head. */
function diffLines(diff: string): Html[] {
  return diff
    .replace(/\n$/, "")
    .split("\n")
    .slice(2)
    .map((line) => {
      const kind = line.startsWith("+") ? "a" : line.startsWith("-") ? "d" : "c"
      return html`<span class="${kind}">${line === "" ? " " : line}</span>`
    })
}

/** Files, commands and hosts, one row for each kind. A command stands above already. */
function touchRows(touches: readonly Touch[], words: Words): Html[] {
  const kinds = ["read", "write", "delete", "host", "database"] as const
  return kinds.flatMap((kind) => {
    const found = touches.filter((touch) => touch.kind === kind)
    const names = [...new Map(found.map((touch) => [touch.what, touch])).values()]
    if (names.length === 0) return []
    const rows = names.map(
      ({ what, reachedBefore }) =>
        html`<code>${what}${reachedBefore === false && html` <small>${words.newHost}</small>`}</code>`,
    )
    return [
      html`<dt>${words.touch[kind]}</dt>
        <dd>${rows}</dd>`,
    ]
  })
}
