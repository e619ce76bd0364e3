import { Link } from "@tanstack/react-router"
import { useState, type ReactNode } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { printable } from "../../../src/lib/printable.ts"
import { AnswerBar } from "../answer/answer-bar.tsx"
import { AnswerQuestion } from "../answer/answer-question.tsx"
import { EditInput } from "../answer/edit-input.tsx"
import { useKept } from "../answer/outcomes.ts"
import { useSleeping } from "../answer/use-sleeping.ts"
import { useCommandKeys } from "../answer/use-guard.ts"
import { useServerTime } from "../api/clock.ts"
import { useConnection } from "../api/live.ts"
import { useFreeze } from "../frame/freeze.tsx"
import { CardHead, type Place } from "./card-head.tsx"
import { Facts, InputLine, Says, Votes } from "./card-parts.tsx"
import { Found, Touches, Why } from "./found.tsx"
import { Held } from "./held.tsx"
import { Output, useOutput } from "./output.tsx"
import type { Redaction } from "./redactions.ts"
import type { Shown } from "./shown-card.ts"
import { isCallerGone, editedForLater, StateStrip } from "./strip.tsx"
import { useWords } from "../words/words.tsx"

interface Props {
  readonly shown: Shown
  readonly card: Card
  readonly place: Place
}

/** One card: who asks, what happened to it, what it is, why, and the bar that answers. */
export function CardPane({ shown, card, place }: Props) {
  const words = useWords()
  const { outcome } = useKept(card.callId)
  const [redactions, setRedactions] = useState<readonly Redaction[]>([])
  const [editing, setEditing] = useState(false)
  const { freeze } = useFreeze()
  const printed = useOutput(card.callId)
  const isOver = useServerTime() > card.until + 1000
  const offline = useConnection().state === "lost"

  const answered = outcome?.state === "done" && outcome.answered.done
  const late = outcome?.state === "late" && outcome.problem.code !== "changed"
  const expired = shown.standing.state === "expired" || (isOver && !answered && shown.standing.state === "waits")
  // The card is about the input before; the strip above it shows what was changed.
  const edited = editedForLater(shown, outcome)
  const open = !answered && !late && !expired && shown.standing.state === "waits"
  const asleep = useSleeping(open ? { callId: card.callId, revision: card.revision } : undefined)

  useCommandKeys((key) => {
    if (key !== "f") return false
    freeze(card.agent.id)
    return true
  })
  const aside = place.wide && card.kind === "call"
  const main = (
    <>
      {answered && outcome.answer.kind.startsWith("approve") && (
        <Output callId={card.callId} printed={printed} begins={!isCallerGone(outcome)} />
      )}
      <Says card={card} />
      {card.kind === "result" ? (
        <Held card={card} redactions={redactions} setRedactions={setRedactions} />
      ) : card.kind === "call" && edited === undefined ? (
        <Found card={card} aside={aside} />
      ) : null}
      {card.kind === "call" && !editing && (
        <InputLine card={edited === undefined ? card : { ...card, input: edited.input, preview: undefined }} />
      )}
      {editing && open && <EditInput key={card.revision} card={card} close={() => setEditing(false)} />}
      {!(answered || shown.standing.state === "answered") && <Votes card={card} open={open} />}
    </>
  )
  const around = (more: ReactNode) => (
    <div className="scroll" data-card-scroll tabIndex={0} role="group" aria-label={words.card.found}>
      <article className={`card ${place.wide ? "card-wide" : ""} ${open ? "" : "is-done"} ${offline ? "is-off" : ""}`}>
        <StateStrip shown={shown} card={card} outcome={outcome} expired={expired} offline={offline} />
        <Facts card={card} open={open} />
        {aside ? (
          <div className="cols">
            <div className="cols-main">{main}</div>
            <aside className="cols-side">
              <section>
                <Why card={card} />
              </section>
              <section>
                <Touches card={card} />
              </section>
            </aside>
          </div>
        ) : (
          main
        )}
        {more}
      </article>
    </div>
  )
  return (
    <section
      className="pane"
      aria-labelledby="card-title"
      data-card={card.callId}
      data-revision={card.revision}
      data-state={
        answered || edited !== undefined
          ? "mine"
          : open
            ? "open"
            : late
              ? "late"
              : expired
                ? "expired"
                : shown.standing.state
      }
    >
      <CardHead card={card} place={place} open={open} asleep={asleep && open} />
      {card.kind === "question" && open ? (
        <AnswerQuestion key={card.callId} card={card} asleep={asleep} offline={offline} around={around} />
      ) : (
        around(card.kind === "question" ? <p className="q-t">{printable(card.question?.question ?? "")}</p> : null)
      )}
      {open && card.kind !== "question" && !editing && (
        <AnswerBar
          key={card.callId}
          card={card}
          asleep={asleep}
          offline={offline}
          redactions={redactions}
          edit={() => setEditing(true)}
        />
      )}
      {!open && (
        <footer className="answer" aria-label={words.answer.bar}>
          <div className="acts">
            <Link to="/audit/$callId" params={{ callId: card.callId }} className="grow">
              {words.states.follow}
            </Link>
            <button type="button" className="btn btn-l" onClick={place.next}>
              {words.states.next}
              <kbd aria-hidden="true">J</kbd>
            </button>
          </div>
        </footer>
      )}
    </section>
  )
}
