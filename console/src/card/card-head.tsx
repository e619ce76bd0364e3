import { Fragment } from "react"
import { Link } from "@tanstack/react-router"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { CopyButton } from "../ui/copy-text.tsx"
import { Icon } from "../ui/icon.tsx"
import { useWords } from "../words/words.tsx"
import { TimeLeft } from "./time-left.tsx"

/** The position of the card in the list, and the way to leave it. */
export interface Place {
  readonly at: number
  readonly of: number
  readonly wide: boolean
  readonly toggleWide: () => void
  readonly next: () => void
  /** Back to the table of its kind, for a card that is looked at alone. */
  readonly together: (() => void) | undefined
}

interface Props {
  readonly card: Card
  readonly place: Place
  readonly open: boolean
  readonly asleep: boolean
}

/** Shows the agent that asks, from the top of the organisation down, and the time left to answer. */
export function CardHead({ card, place, open, asleep }: Props) {
  const words = useWords()
  const { agent } = card
  const wide = place.wide ? words.card.narrow : words.card.widen
  return (
    <div className="bar">
      <Link to="/inbox" className="ib back" aria-label={words.inbox.backToList} data-wide={place.wide || undefined}>
        <Icon name="chevron-left" />
      </Link>
      <div className="path grow">
        {agent.ancestors.toReversed().map((ancestor) => (
          <Fragment key={ancestor}>
            <span>{ancestor}</span>
            <Icon name="chevron-right" />
          </Fragment>
        ))}
        <b>{agent.id}</b>
        <span className="cut wide-only">
          {[agent.role, agent.department].filter((each) => each !== undefined).join(", ")}
          {agent.roleMadeBy !== undefined && (
            <span className="tag tag-said">{words.card.madeBy(agent.roleMadeBy)}</span>
          )}
        </span>
      </div>
      {place.together !== undefined && (
        <button type="button" className="btn btn-s" onClick={place.together}>
          {words.answer.together}
        </button>
      )}
      {place.at > 0 && (
        <span className="pos wide-only num">
          {words.card.position(place.at, place.of)} <kbd aria-hidden="true">K</kbd>
          <kbd aria-hidden="true">J</kbd>
        </span>
      )}
      {open && <TimeLeft createdAt={card.createdAt} until={card.until} />}
      <span className="wide-only bar-tools">
        <CopyButton text={`${location.origin}/inbox/${card.callId}`} label={words.card.copyLink} icon="link" />
        <button type="button" className="ib" aria-label={wide} title={wide} onClick={place.toggleWide}>
          <Icon name={place.wide ? "arrows-diagonal-minimize-2" : "arrows-diagonal"} />
        </button>
      </span>
      {asleep && <i key={`${card.callId} ${card.revision}`} className="wake" title={words.states.keysSleep} />}
    </div>
  )
}
