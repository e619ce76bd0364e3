import type { Card } from "../../../approvals/card/schema.ts"
import { cardHtml, gate } from "./answer-card.ts"
import type { YesNeeds } from "../../../approvals/links/answer-rules.ts"
import type { Words } from "../../../messages/answer-page.ts"
import { html, type Html } from "./html.ts"
import { style } from "./style.ts"

/** A page that only says something: the link was used, is too old, the answer counted. */
export interface Notice {
  title: string
  sentences: readonly string[]
  /** A command, with the sentence before it. */
  next?: { sentence: string; command: string }
  /** A link to the item in the console. */
  consoleUrl?: string
}

export interface AnswerForm {
  card: Card
  yes: YesNeeds
  /** The time when the link or the wait is over, whichever is first. */
  until: number
  now: number
  consoleUrl: string
  /** The problem with the last try. */
  problem?: string
}

/** The whole page. The style has a nonce; there is no script. */
export function pageHtml(title: string, content: Html, words: Words, nonce: string): string {
  return `<!doctype html>\n${html`<html lang="${words.lang}">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <meta name="color-scheme" content="light dark" />
      <title>${title} &middot; Quartermaster</title>
      <link rel="icon" href="data:," />
      <style nonce="${nonce}">
        __STYLE__
      </style>
    </head>
    <body>
      ${content}
    </body>
  </html>`.text.replace("__STYLE__", () => style)}`
}

export function noticeHtml({ title, sentences, next, consoleUrl }: Notice, words: Words): Html {
  return html`<main class="box">
    <div class="brand">${gate}<b>Quartermaster</b></div>
    <section class="card">
      <h1>${title}</h1>
      ${sentences.map((sentence) => html`<p>${sentence}</p>`)}
      ${
        next !== undefined &&
        html`<div class="next">
          <p>${next.sentence}</p>
          <pre>${next.command}</pre>
        </div>`
      }
      ${consoleUrl !== undefined && html`<a class="go" href="${consoleUrl}">${words.openConsole}</a>`}
    </section>
    ${languageLink(words)}
  </main>`
}

/**
 * The item and what can be said to it. Approve stands first in the page, so that Enter in a field never means no; it is
 * shown on the right.
 */
export function formHtml({ card, yes, until, now, consoleUrl, problem }: AnswerForm, words: Words): Html {
  const left = Math.max(1, Math.ceil((until - now) / 60_000))
  return html`<form class="answer" method="post">
    <div class="head">${gate}<b>Quartermaster</b><span${left <= 2 && html` class="soon"`}>${words.left(left)}</span></div>
    <main class="body">
      ${problem !== undefined && html`<p class="wrong" role="alert">${problem}</p>`} ${cardHtml(card, words, now)}
      ${card.question !== undefined && questionHtml(card.question, yes, words)}
      ${yes.needs === "console" && html`<p class="note">${words.only[yes.because]}</p>`}
      ${yes.needs === "pin" && pinHtml(words)} ${languageLink(words)}
    </main>
    <div class="foot">
      <div class="acts">
        ${
          yes.needs === "console"
            ? html`<a class="yes" href="${consoleUrl}">${words.openConsole}</a>`
            : html`<button class="yes${yes.needs === "nothing" && " full"}" name="say" value="yes">
                ${words.yes[card.kind]}
              </button>`
        }
        <button name="say" value="no" formnovalidate>${words.no[card.kind]}</button>
      </div>
      <p class="hint">${yes.needs === "pin" ? words.hintPin(words.no[card.kind]) : words.hint(card.revision)}</p>
    </div>
  </form>`
}

function pinHtml(words: Words): Html {
  return html`<section>
    <label for="pin">${words.pin}</label>
    <input
      id="pin"
      name="pin"
      type="password"
      inputmode="numeric"
      autocomplete="off"
      pattern="[0-9]*"
      minlength="6"
      maxlength="32"
      required
    />
    <p class="hint">${words.pinWhy}</p>
  </section>`
}

function questionHtml(
  { question, options, multiple }: NonNullable<Card["question"]>,
  yes: YesNeeds,
  words: Words,
): Html {
  const asked = html`<section class="says">
    <h2>${words.says}</h2>
    <p>${question}</p>
  </section>`
  if (yes.needs === "console") return asked
  if (options === undefined || options.length === 0)
    return html`${asked}
      <section>
        <label for="value">${words.yourAnswer}</label>
        <textarea id="value" name="value" maxlength="10000" required></textarea>
      </section>`
  const type = multiple === true ? "checkbox" : "radio"
  return html`${asked}
    <fieldset>
      <legend>${words.yourAnswer}</legend>
      ${multiple === true && html`<p class="hint">${words.chooseSome}</p>`}
      ${options.map(
        (option) =>
          html`<label class="choice"
            ><input type="${type}" name="value" value="${option}" ${multiple !== true && "required"} />${option}</label
          >`,
      )}
    </fieldset>`
}

function languageLink({ lang, other }: Words): Html {
  const [code, name] = lang === "en" ? ["zh", "zh-CN"] : ["en", "en"]
  return html`<p class="lang"><a href="?lang=${code}" lang="${name}">${other}</a></p>`
}
