import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { printable } from "../../../src/lib/printable.ts"
import { ShortTimeLeft } from "../card/time-left.tsx"
import { iconOf, shortPath, tagClass } from "../card/look.ts"
import { Risk } from "../card/risk.tsx"
import { peopleNeeded, tagText } from "../card/card-parts.tsx"
import { seenText } from "../card/shown-card.ts"
import { standingQuery, useMe } from "../api/queries.ts"
import { Icon } from "../ui/icon.tsx"
import { useSay, useWords } from "../words/words.tsx"
import { AskNotify } from "./ask-notify.tsx"
import { bandsOf, countTabs, type Entry, type Row, type Tab } from "./arrange.ts"
import { Sample } from "./sample.tsx"
import { DigestLine, RefusedLane, Suggestions } from "./lanes.tsx"
import look from "./inbox.module.css"

interface Props {
  readonly entries: readonly Entry[]
  readonly heldBack: number
  /** The number of waiting cards that the list does not show. */
  readonly more: number
  readonly shown: string | undefined
  readonly tab: Tab
  readonly setTab: (tab: Tab) => void
  readonly setStill: (still: boolean) => void
}

/** Shows the waiting cards, by risk and then by time left. */
export function InboxList({ entries, heldBack, more, shown, tab, setTab, setStill }: Props) {
  const words = useWords()
  const { sample } = useMe()
  const counts = countTabs(entries)
  const bands = bandsOf(entries, tab)
  const tabs: readonly (readonly [Tab, string])[] = [
    ["all", words.inbox.all],
    ["calls", words.inbox.calls],
    ["results", words.inbox.results],
    ["questions", words.inbox.questions],
  ]
  return (
    <section
      className={look["list"]}
      aria-label={words.pages.inbox}
      onPointerEnter={(event) => event.pointerType === "mouse" && setStill(true)}
      onPointerLeave={() => setStill(false)}
    >
      <div className="head">
        <h1>{words.pages.inbox}</h1>
        <span className="dim" title={words.inbox.sorted}>
          {words.inbox.waiting(counts.all)}
        </span>
      </div>
      <div className={look["filter"]} role="group" aria-label={words.inbox.show}>
        {tabs.map(([each, label]) => (
          <button key={each} type="button" aria-pressed={tab === each} onClick={() => setTab(each)}>
            {label} <span>{counts[each]}</span>
          </button>
        ))}
      </div>
      <div className="scroll" tabIndex={0} role="group" aria-label={words.inbox.sorted}>
        <DigestLine />
        {heldBack > 0 && (
          <button type="button" className={look["heldback"]} onClick={() => setStill(false)}>
            <Icon name="arrow-down" small />
            {words.inbox.newOnes(heldBack)}
          </button>
        )}
        {bands.length === 0 && entries.length > 0 && <p className={`${look["none"]} dim`}>{words.inbox.noneOfKind}</p>}
        {bands.map(({ band, rows, count }) => (
          <div key={band} data-band={band}>
            <div className={look["band"]}>
              <h2>
                <Risk band={band} />
              </h2>
              <span className="num">{count}</span>
            </div>
            <ul>
              {rows.map((row) => (
                <li key={row.card.callId}>
                  <RowLink row={row} current={row.alike.some(({ callId }) => callId === shown)} />
                </li>
              ))}
            </ul>
          </div>
        ))}
        {more > 0 && <p className={`${look["none"]} dim`}>{words.inbox.moreWait(more)}</p>}
        {entries.length > 0 && <AskNotify />}
        <Suggestions />
        <RefusedLane />
        {sample && entries.length > 0 && <Sample />}
      </div>
    </section>
  )
}

function RowLink({ row, current }: { row: Row; current: boolean }) {
  const words = useWords()
  const say = useSay()
  const { card, alike, gone } = row
  const needed = peopleNeeded(card.approvers)
  const isCode = card.kind === "call"
  return (
    <Link
      to="/inbox/$callId"
      params={{ callId: card.callId }}
      className={`${look["row"]} ${alike.length > 1 ? look["stack"] : ""} ${gone ? look["row-gone"] : ""}`}
      aria-current={current ? "true" : undefined}
      activeProps={{}}
      data-gone={gone || undefined}
      data-call={alike.map(({ callId }) => callId).join(" ")}
      preload={false}
    >
      {gone ? <EndedIcon card={card} /> : <Icon name={iconOf(card)} />}
      <span className={`${look["row-t"]} grow`}>
        <b className="mono">{card.tool}</b>
        {alike.length > 1 ? (
          <span className="tag">{words.inbox.alike(alike.length)}</span>
        ) : (
          <>
            {card.kind === "result" && card.risk.tags.length === 0 && (
              <span className="tag tag-held">{words.inbox.resultHeld}</span>
            )}
            {card.kind === "question" && <span className="tag tag-held">{words.inbox.question}</span>}
            {card.risk.tags.map((tag) => (
              <span key={tag.text} className={tagClass(tag)}>
                {(gone ? undefined : tagText(tag, card, words)) ?? say(tag)}
              </span>
            ))}
            {needed > 1 && !card.risk.tags.some(({ code }) => code === "risk_several_people") && (
              <span className="tag">
                {card.votes.length === 0 ? words.inbox.people(needed) : words.card.agreedOf(card.votes.length, needed)}
              </span>
            )}
          </>
        )}
      </span>
      {gone ? <EndedWord card={card} /> : <ShortTimeLeft until={card.until} />}
      <span className={isCode ? `${look["row-w"]} cut mono` : `${look["row-w"]} cut`}>
        {printable(alike.map(({ summary }) => summary).join(", "))}
      </span>
      <span className={look["row-a"]}>{shortPath(card)}</span>
    </Link>
  )
}

const useStanding = (card: Card) => useQuery(standingQuery(card.callId, seenText(card))).data

/** Shows the outcome of a card that stands in the list for a moment more. */
function EndedWord({ card }: { card: Card }) {
  const { inbox } = useWords()
  const standing = useStanding(card)
  if (standing === undefined || standing.state === "waiting") return <span className="row-r dim" />
  const word = standing.state === "answered" ? inbox.did[standing.did ?? "answered"] : inbox[standing.state]
  return <span className="row-r dim">{word}</span>
}

function EndedIcon({ card }: { card: Card }) {
  const standing = useStanding(card)
  const isAnswered = standing === undefined || standing.state === "answered" || standing.state === "waiting"
  return <Icon name={isAnswered ? "check" : "clock-off"} />
}
