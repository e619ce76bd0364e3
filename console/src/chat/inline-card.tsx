import { useQuery } from "@tanstack/react-query"
import { useId, useRef, type ReactNode, type RefObject } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { CardAmongOthers } from "../answer/card-guard.tsx"
import { inboxQuery } from "../api/queries.ts"
import { CardAnswer, CardMain } from "../card/card-main.tsx"
import { Touches, Why } from "../card/found.tsx"
import { Output } from "../card/output.tsx"
import { Risk } from "../card/risk.tsx"
import { useShownCard, type Shown } from "../card/shown-card.ts"
import { StateStrip } from "../card/strip.tsx"
import { TimeLeft } from "../card/time-left.tsx"
import { useCard } from "../card/use-card.ts"
import { Later } from "../ui/later.tsx"
import { useSay, useWords } from "../words/words.tsx"
import look from "./inline-card.module.css"

/** The inbox's card in a conversation, with the same guards. What was answered stays as one line. */
export function InlineCard({ callId, hasKeys }: { callId: string; hasKeys: boolean }) {
  const { data } = useQuery(inboxQuery)
  const shown = useShownCard(callId, data?.items)
  const place = useRef<HTMLElement>(null)
  if (shown.card === undefined)
    return shown.standing.state === "waits" ? (
      <Later>
        <div className={look["card"]} aria-busy="true">
          <div className="sk sk-2" />
        </div>
      </Later>
    ) : null
  return (
    <CardAmongOthers hasKeys={hasKeys} card={place}>
      <Guarded shown={shown} card={shown.card} place={place} />
    </CardAmongOthers>
  )
}

function Guarded({ shown, card, place }: { shown: Shown; card: Card; place: RefObject<HTMLElement | null> }) {
  const words = useWords()
  const say = useSay()
  const title = useId()
  const state = useCard(shown, card)
  const head = (
    <header className={look["head"]}>
      <Risk band={card.risk.band} long />
      <h3 id={title}>{say(card.title)}</h3>
      <span className="grow" />
      {state.open && <TimeLeft createdAt={card.createdAt} until={card.until} />}
      {state.asleep && state.open && (
        <i key={`${card.callId} ${card.revision}`} className="wake" title={words.states.keysSleep} />
      )}
    </header>
  )
  const around = (more: ReactNode) => (
    <>
      <StateStrip {...state} shown={shown} card={card} />
      {state.answered && state.printed.text !== "" && (
        <div className={look["body"]}>
          <Output callId={card.callId} printed={state.printed} begins={false} />
        </div>
      )}
      {state.open && (
        <div className={`${look["body"]} card`}>
          <CardMain card={card} shown={shown} state={state} aside={card.kind === "call"} narrow />
          {card.kind === "call" && (
            <details className={look["why"]}>
              <summary>{words.chat.reasons(card.reasons.length, card.touches.length)}</summary>
              <div className="two">
                <div>
                  <Why card={card} />
                </div>
                <div>
                  <Touches card={card} />
                </div>
              </div>
            </details>
          )}
          {more}
        </div>
      )}
    </>
  )
  return (
    <article
      ref={place}
      className={`${look["card"]} ${state.offline ? "is-off" : ""}`}
      aria-labelledby={title}
      data-card={card.callId}
      data-revision={card.revision}
      data-state={state.name}
    >
      {head}
      <CardAnswer card={card} state={state} around={around} />
    </article>
  )
}
