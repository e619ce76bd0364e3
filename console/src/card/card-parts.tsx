import type { Card } from "../../../src/approvals/card/schema.ts"
import { printable, printableJson } from "../../../src/lib/printable.ts"
import { useServerTime } from "../api/clock.ts"
import { useMe } from "../api/queries.ts"
import { Icon } from "../ui/icon.tsx"
import { initials } from "../ui/initials.ts"
import { Said } from "../ui/said.tsx"
import { agoText, bytesText } from "../words/time-text.ts"
import type { Words } from "../words/en.ts"
import { useSay, useWords } from "../words/words.tsx"
import { Risk } from "./risk.tsx"
import { tagClass } from "./look.ts"

/** The title, and the facts in one line below it. */
export function Facts({ card, open }: { card: Card; open: boolean }) {
  const words = useWords()
  const say = useSay()
  const now = useServerTime(15_000)
  const me = useMe()
  const forWhom = card.userId === me.id ? undefined : card.userId
  return (
    <header className="card-h">
      <h2 id="card-title">{say(card.title)}</h2>
      <div className="facts">
        <Risk band={card.risk.band} long />
        {card.risk.tags.map((tag) => (
          <span key={tag.text} className={tagClass(tag)}>
            {(open ? tagText(tag, card, words) : undefined) ?? say(tag)}
          </span>
        ))}
        <i className="sep" />
        <code title={card.toolDescription}>{card.tool}</code>
        <span>{words.card.level[card.level]}</span>
        <i className="sep" />
        {card.files > 1 && <span>{words.size.files(card.files)}</span>}
        {card.bytes !== undefined && <span>{bytesText(card.bytes)}</span>}
        {(card.files > 1 || card.bytes !== undefined) && <i className="sep" />}
        {card.taskId !== undefined && (
          <span>
            {words.card.task} <Said text={card.taskId} />
          </span>
        )}
        {forWhom !== undefined && <span>{words.card.forPerson(printable(forWhom))}</span>}
        {(card.taskId !== undefined || forWhom !== undefined) && <i className="sep" />}
        <span>{words.card.asked(agoText(now - card.createdAt, words))}</span>
        {card.revision > 1 && <span>{words.card.revision(card.revision)}</span>}
        {card.editedBy !== undefined && <span>{words.card.editedBy(card.editedBy)}</span>}
      </div>
    </header>
  )
}

/** Of the tag that says how many must agree: how many have. */
export function tagText({ code }: { code: string }, { votes, approvers }: Card, words: Words): string | undefined {
  if (code !== "risk_several_people" || votes.length === 0) return undefined
  return words.card.agreedOf(votes.length, peopleNeeded(approvers))
}

/** The agent's own words: quoted, dashed, and never more than text. */
export function Says({ card: { intent } }: { card: Card }) {
  const words = useWords()
  if (intent === undefined || intent === "") return null
  return (
    <section className="says">
      <h3 className="block-head">
        {words.card.says} <span className="tag tag-said">{words.card.notVerified}</span>
      </h3>
      <p>“{printable(intent.slice(0, 200))}”</p>
    </section>
  )
}

/** The input in one line, opened by the person who wants all of it. */
export function InputLine({ card: { input, preview } }: { card: Card }) {
  const words = useWords()
  const entries = typeof input === "object" && input !== null ? Object.entries(input) : []
  // Values that the preview shows in full need not be repeated.
  const isShown = (value: unknown) =>
    (preview?.kind === "command" && value === preview.command) ||
    (preview?.kind === "request" && (value === preview.url || value === preview.body))
  const short = entries
    .filter(([, value]) => !isShown(value))
    .map(([name, value]) => printable(`${name} ${typeof value === "string" ? value : JSON.stringify(value)}`))
  return (
    <details className="inputline">
      <summary>
        <Icon name="chevron-right" small />
        <b className="soft">{words.card.input}</b>
        <code className="cut grow">{entries.length === 0 ? words.card.noInput : short.join(" · ")}</code>
      </summary>
      <pre className="plain">{printableJson(input, 2)}</pre>
    </details>
  )
}

/** Counts the people who must agree. */
export const peopleNeeded = (approvers: Card["approvers"]) => approvers.reduce((sum, { count }) => sum + count, 0)

/** Shows who has agreed, where more than one must. When nobody answered in time, nobody more is waited for. */
export function Votes({ card: { votes, approvers }, open }: { card: Card; open: boolean }) {
  const words = useWords()
  const now = useServerTime(15_000)
  const needed = peopleNeeded(approvers)
  if (!open && votes.length === 0) return null
  if (needed < 2 && votes.length === 0) return null
  const missing = open ? Math.max(0, needed - votes.length) : 0
  return (
    <section className="votes" aria-label={words.card.quorum(needed)}>
      {votes.map(({ by, at }) => (
        <span key={by} className="vote">
          <span className="av" aria-hidden="true">
            {initials(by)}
          </span>
          {words.card.agreed(by, agoText(now - at, words))}
        </span>
      ))}
      {missing > 0 && (
        <span className="vote dim">
          <i className="vote-o" />
          {words.card.moreNeeded(missing, approvers.length === 1 ? approvers[0]?.role : undefined)}
        </span>
      )}
    </section>
  )
}
