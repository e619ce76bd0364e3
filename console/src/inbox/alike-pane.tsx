import { Fragment, useState } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { printable } from "../../../src/lib/printable.ts"
import { AnswerButton } from "../answer/answer-button.tsx"
import type { Said } from "../answer/said.ts"
import { sendAnswer, type Outcome } from "../answer/outcomes.ts"
import { useMay } from "../answer/use-may.ts"
import { useSleeping } from "../answer/use-sleeping.ts"
import { useConnection } from "../api/live.ts"
import { CardHead, type Place } from "../card/card-head.tsx"
import { tagClass } from "../card/look.ts"
import { Risk } from "../card/risk.tsx"
import { notCountedText } from "../card/strip.tsx"
import { ShortTimeLeft } from "../card/time-left.tsx"
import { Marked } from "../ui/marked.tsx"
import { useLanguage, useSay, useWords } from "../words/words.tsx"
import { commonFields, differingFields, fieldText } from "./alike.ts"

interface Chosen {
  readonly yes: boolean
  readonly revision: number
}

/** An answer that did not count, and which line it was for. */
interface NotCounted {
  readonly card: Card
  readonly outcome: Extract<Outcome, { state: "late" | "failed" }>
}

interface Props {
  readonly cards: readonly Card[]
  readonly place: Place
  readonly lookAt: (callId: string) => void
  /** Says that the table must stay, also when no line is left: it has something to say. */
  readonly stay: (must: boolean) => void
}

/** Calls of the same kind in one table: only what differs. Each line is its own answer, always for this once. */
export function AlikePane({ cards, place, lookAt, stay }: Props) {
  const words = useWords()
  const { language } = useLanguage()
  const say = useSay()
  const offline = useConnection().state === "lost"
  const [chosen, setChosen] = useState<Readonly<Record<string, Chosen>>>({})
  const [said, setSaid] = useState<Said>()
  const [sending, setSending] = useState(false)
  const [notCounted, setNotCounted] = useState<readonly NotCounted[]>([])
  const [begunWith] = useState(cards)
  const first = cards[0] ?? begunWith[0]
  const asleep = useSleeping({
    callId: cards.map(({ callId }) => callId).join(" "),
    revision: cards.reduce((sum, { revision }) => sum + revision, 0),
  })
  if (first === undefined) return null

  const fields = differingFields(cards)
  const common = commonFields(cards)
  // A line that changed after it was chosen is chosen again.
  const answers = cards.flatMap((card) => {
    const choice = chosen[card.callId]
    return choice?.revision === card.revision ? [{ card, yes: choice.yes }] : []
  })
  const whys = [...new Set(notCounted.map(({ outcome }) => notCountedText(outcome, words, language)))]
  const send = async () => {
    setSending(true)
    stay(true)
    setSaid(undefined)
    const failures: NotCounted[] = []
    for (const { card, yes } of answers) {
      const outcome = await sendAnswer(card, { kind: yes ? "approve" : "reject" })
      if (outcome.state === "late" || outcome.state === "failed") failures.push({ card, outcome })
    }
    // Answers that did not count stay chosen, to be sent again.
    const failed = new Set(failures.map(({ card }) => card.callId))
    setChosen((all) => Object.fromEntries(Object.entries(all).filter(([callId]) => failed.has(callId))))
    setNotCounted(failures)
    setSending(false)
    stay(failures.length > 0)
  }
  return (
    <section className="pane" aria-labelledby="card-title" data-alike={cards.length}>
      <CardHead card={first} place={place} open asleep={asleep} />
      <div className="scroll" tabIndex={0} role="group" aria-label={words.answer.together} data-card-scroll>
        <article className="card card-wide">
          <header className="card-h">
            <h2 id="card-title">{words.answer.alikeTitle(first.tool, first.agent.id, cards.length)}</h2>
            <div className="facts">
              <Risk band={first.risk.band} long />
              <i className="sep" />
              <span>{words.answer.alikeMore}</span>
            </div>
          </header>
          {common.length > 0 && fields.length > 0 && (
            <div className="alike-same">
              <h3 className="lab">{words.answer.alikeSame}</h3>
              <dl className="kv">
                {common.map((name) => (
                  <Fragment key={name}>
                    <dt>{name}</dt>
                    <dd className="mono">{printable(fieldText(first, name))}</dd>
                  </Fragment>
                ))}
              </dl>
            </div>
          )}
          <div className="alike" data-found>
            <table className="tbl tbl-s">
              <thead>
                <tr>
                  {fields.length === 0 && <th>{words.card.input}</th>}
                  {fields.map((name) => (
                    <th key={name}>{name}</th>
                  ))}
                  <th>{words.card.found}</th>
                  <th className="wide-only">
                    <span className="vh">{words.time.left("")}</span>
                  </th>
                  <th>
                    <span className="vh">{words.answer.bar}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {cards.map((card) => (
                  <tr key={card.callId}>
                    {fields.length === 0 && <td className="mono wrapcell">{printable(card.summary)}</td>}
                    {fields.map((name) => (
                      <td key={name} className="mono wrapcell" data-name={fields.length > 1 ? name : undefined}>
                        {printable(fieldText(card, name))}
                      </td>
                    ))}
                    <td>
                      {card.risk.tags.map((tag) => (
                        <span key={tag.text} className={tagClass(tag)}>
                          {say(tag)}
                        </span>
                      ))}
                      <button type="button" className="linklike" onClick={() => lookAt(card.callId)}>
                        {words.answer.showOne}
                      </button>
                    </td>
                    <td className="wide-only">
                      <ShortTimeLeft until={card.until} />
                    </td>
                    <td>
                      <YesNo
                        card={card}
                        chosen={chosen[card.callId]?.revision === card.revision ? chosen[card.callId]?.yes : undefined}
                        choose={(yes) =>
                          setChosen((all) => {
                            const { [card.callId]: before, ...rest } = all
                            return before?.yes === yes
                              ? rest
                              : { ...all, [card.callId]: { yes, revision: card.revision } }
                          })
                        }
                      />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </article>
      </div>
      <footer className="answer" aria-label={words.answer.bar} data-asleep={asleep || undefined}>
        <div className="said" role="status">
          {said !== undefined && words.answer[said]}
          {whys.map((why) => (
            <p key={why} className="hint-wrong">
              <code>
                {notCounted
                  .filter(({ outcome }) => notCountedText(outcome, words, language) === why)
                  .map(({ card }) => printable(card.summary))
                  .join(" · ")}
              </code>{" "}
              <Marked text={why} />
            </p>
          ))}
        </div>
        <div className="acts">
          <span className="dim grow">
            {cards.length > answers.length && words.answer.notAnswered(cards.length - answers.length)}
          </span>
          {cards.length === 0 ? (
            <button type="button" className="btn btn-l" onClick={place.next}>
              {words.states.next}
              <kbd aria-hidden="true">J</kbd>
            </button>
          ) : (
            <AnswerButton
              className="btn btn-l btn-p"
              disabled={offline || sending || answers.length === 0}
              asleep={asleep}
              run={() => void send()}
              say={setSaid}
            >
              {answers.length === 0 ? words.answer.send : words.answer.sentOf(answers.length)}
            </AnswerButton>
          )}
        </div>
      </footer>
    </section>
  )
}

/** No and Yes of one line. What deletes is looked at alone: there it is held. */
function YesNo({ card, chosen, choose }: { card: Card; chosen: boolean | undefined; choose: (yes: boolean) => void }) {
  const words = useWords()
  const may = useMay(card)
  return (
    <span className="yn" role="group" aria-label={printable(card.summary)}>
      <button type="button" aria-pressed={chosen === false} disabled={!may.no} onClick={() => choose(false)}>
        {words.answer.no}
      </button>
      <button
        type="button"
        aria-pressed={chosen === true}
        disabled={!may.yes || card.risk.destructive}
        onClick={() => choose(true)}
      >
        {words.answer.yes}
      </button>
    </span>
  )
}
