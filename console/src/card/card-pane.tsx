import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { useCommandKeys } from "../answer/use-guard.ts"
import { useFreeze } from "../frame/freeze.tsx"
import { CardHead, type Place } from "./card-head.tsx"
import { CardAnswer, CardMain } from "./card-main.tsx"
import { Facts } from "./card-parts.tsx"
import { Touches, Why } from "./found.tsx"
import type { Shown } from "./shown-card.ts"
import { StateStrip } from "./strip.tsx"
import { useCard } from "./use-card.ts"
import { useWords } from "../words/words.tsx"

interface Props {
  readonly shown: Shown
  readonly card: Card
  readonly place: Place
}

/** One card: who asks, what happened to it, what it is, why, and the bar that answers. */
export function CardPane({ shown, card, place }: Props) {
  const words = useWords()
  const state = useCard(shown, card)
  const { freeze } = useFreeze()
  useCommandKeys((key) => {
    if (key !== "f") return false
    freeze(card.agent.id)
    return true
  })
  const aside = place.wide && card.kind === "call"
  const main = <CardMain card={card} shown={shown} state={state} aside={aside} />
  const around = (more: ReactNode) => (
    <div className="scroll" data-card-scroll tabIndex={0} role="group" aria-label={words.card.found}>
      <article
        className={`card ${place.wide ? "card-wide" : ""} ${state.open ? "" : "is-done"} ${state.offline ? "is-off" : ""}`}
      >
        <StateStrip {...state} shown={shown} card={card} />
        <Facts card={card} open={state.open} />
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
      data-state={state.name}
    >
      <CardHead card={card} place={place} open={state.open} asleep={state.asleep && state.open} />
      <CardAnswer card={card} state={state} around={around} />
      {!state.open && (
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
