import type { ReactNode } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { printable } from "../../../src/lib/printable.ts"
import { AnswerBar } from "../answer/answer-bar.tsx"
import { AnswerQuestion } from "../answer/answer-question.tsx"
import { EditInput } from "../answer/edit-input.tsx"
import { InputLine, Says, Votes } from "./card-parts.tsx"
import { Found } from "./found.tsx"
import { Held } from "./held.tsx"
import { Output } from "./output.tsx"
import type { Shown } from "./shown-card.ts"
import { isCallerGone } from "./strip.tsx"
import type { CardState } from "./use-card.ts"

interface MainProps {
  readonly card: Card
  readonly shown: Shown
  readonly state: CardState
  /** True if reasons and touches stand beside it. */
  readonly aside: boolean
  /** True if there is little room, as in a conversation: a difference has one column at first. */
  readonly narrow?: boolean
}

/** The agent's words, what was found, the input and the votes: the same on the inbox's page and in a conversation. */
export function CardMain({ card, shown, state, aside, narrow = false }: MainProps) {
  const { answered, outcome, printed, edited, editing, open } = state
  return (
    <>
      {answered && outcome?.answer.kind.startsWith("approve") === true && (
        <Output callId={card.callId} printed={printed} begins={!isCallerGone(outcome)} />
      )}
      <Says card={card} />
      {card.kind === "result" ? (
        <Held card={card} redactions={state.redactions} setRedactions={state.setRedactions} />
      ) : card.kind === "call" && edited === undefined ? (
        <Found card={card} aside={aside} narrow={narrow} />
      ) : null}
      {card.kind === "call" && !editing && (
        <InputLine card={edited === undefined ? card : { ...card, input: edited.input, preview: undefined }} />
      )}
      {editing && open && <EditInput key={card.revision} card={card} close={() => state.setEditing(false)} />}
      {!(answered || shown.standing.state === "answered") && <Votes card={card} open={open} />}
    </>
  )
}

interface AnswerProps {
  readonly card: Card
  readonly state: CardState
  /** Puts the question into the part of the card that scrolls. */
  readonly around: (question: ReactNode) => ReactNode
}

/** The card with the bar that answers it. */
export function CardAnswer({ card, state, around }: AnswerProps) {
  const { open, asleep, offline, editing, redactions } = state
  if (card.kind === "question" && open)
    return <AnswerQuestion key={card.callId} card={card} asleep={asleep} offline={offline} around={around} />
  return (
    <>
      {around(card.kind === "question" ? <p className="q-t">{printable(card.question?.question ?? "")}</p> : null)}
      {open && !editing && (
        <AnswerBar
          key={card.callId}
          card={card}
          asleep={asleep}
          offline={offline}
          redactions={redactions}
          edit={() => state.setEditing(true)}
        />
      )}
    </>
  )
}
