import { useState } from "react"
import type { Card } from "../../../src/http/api/schemas.ts"
import { AnswerButton } from "../answer/answer-button.tsx"
import type { Said } from "../answer/said.ts"
import { sendAnswer } from "../answer/outcomes.ts"
import { useSleeping } from "../answer/use-sleeping.ts"
import { useConnection } from "../api/live.ts"
import { CardHead, type Place } from "../card/card-head.tsx"
import { tagClass } from "../card/look.ts"
import { Risk } from "../card/risk.tsx"
import { ShortTimeLeft } from "../card/time-left.tsx"
import { useSay, useWords } from "../words/words.tsx"
import { differingFields, fieldText } from "./alike.ts"

interface Chosen {
  readonly yes: boolean
  readonly revision: number
}

interface Props {
  readonly cards: readonly Card[]
  readonly place: Place
  readonly lookAt: (callId: string) => void
}

/** Calls of the same kind in one table: only what differs. Each line is its own answer, always for this once. */
export function AlikePane({ cards, place, lookAt }: Props) {
  const words = useWords()
  const say = useSay()
  const offline = useConnection().state === "lost"
  const [chosen, setChosen] = useState<Readonly<Record<string, Chosen>>>({})
  const [said, setSaid] = useState<Said>()
  const [sending, setSending] = useState(false)
  const [first] = cards
  const asleep = useSleeping({
    callId: cards.map(({ callId }) => callId).join(" "),
    revision: cards.reduce((sum, { revision }) => sum + revision, 0),
  })
  if (first === undefined) return null

  const fields = differingFields(cards).slice(0, 2)
  // A line that changed after it was chosen is chosen again.
  const answers = cards.flatMap((card) => {
    const choice = chosen[card.callId]
    return choice?.revision === card.revision ? [{ callId: card.callId, revision: card.revision, yes: choice.yes }] : []
  })
  const send = async () => {
    setSending(true)
    setSaid(undefined)
    for (const { yes, ...subject } of answers) await sendAnswer(subject, { kind: yes ? "approve" : "reject" })
    setChosen({})
    setSending(false)
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
                    {fields.length === 0 && <td className="mono wrapcell">{card.summary}</td>}
                    {fields.map((name) => (
                      <td key={name} className="mono wrapcell">
                        {fieldText(card, name)}
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
        <p className="said" role="status">
          {said !== undefined && words.answer[said]}
        </p>
        <div className="acts">
          <span className="dim grow">{words.answer.notAnswered(cards.length - answers.length)}</span>
          <AnswerButton
            className="btn btn-l btn-p"
            disabled={offline || sending || answers.length === 0}
            asleep={asleep}
            run={() => void send()}
            say={setSaid}
          >
            {answers.length === 0 ? words.answer.send : words.answer.sentOf(answers.length)}
          </AnswerButton>
        </div>
      </footer>
    </section>
  )
}

/** No and Yes of one line. What deletes is looked at alone: there it is held. */
function YesNo({ card, chosen, choose }: { card: Card; chosen: boolean | undefined; choose: (yes: boolean) => void }) {
  const words = useWords()
  return (
    <span className="yn" role="group" aria-label={card.summary}>
      <button type="button" aria-pressed={chosen === false} disabled={!card.mayAnswer} onClick={() => choose(false)}>
        {words.answer.no}
      </button>
      <button
        type="button"
        aria-pressed={chosen === true}
        disabled={!card.mayAnswer || card.risk.destructive}
        onClick={() => choose(true)}
      >
        {words.answer.yes}
      </button>
    </span>
  )
}
