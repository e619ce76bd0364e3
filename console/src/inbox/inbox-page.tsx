import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { useCommandKeys } from "../answer/use-guard.ts"
import { serverNow, useServerTime } from "../api/clock.ts"
import { problemOf } from "../api/http.ts"
import { inboxQuery } from "../api/queries.ts"
import { CardPane } from "../card/card-pane.tsx"
import type { Place } from "../card/card-head.tsx"
import { useShownCard } from "../card/shown-card.ts"
import { recordQuery } from "../tools/queries.ts"
import { Icon } from "../ui/icon.tsx"
import { Later } from "../ui/later.tsx"
import { ProblemBox } from "../ui/problem-box.tsx"
import { useWords } from "../words/words.tsx"
import { AlikePane } from "./alike-pane.tsx"
import {
  bandsOf,
  compareCards,
  neighbour,
  nextEntries,
  tablesAmong,
  type Entry,
  type Row,
  type Tab,
} from "./arrange.ts"
import { First } from "./first.tsx"
import { InboxList } from "./inbox-list.tsx"
import look from "./inbox.module.css"

export function InboxPage() {
  const words = useWords()
  const navigate = useNavigate()
  const { callId: shown } = useParams({ strict: false })
  const { data, error, refetch } = useQuery(inboxQuery)
  const [tab, setTab] = useState<Tab>("all")
  const [still, setStill] = useState(false)
  const [wide, setWide] = useState(false)
  const { entries, heldBack } = useEntries(data?.items, still, shown)
  const rows = bandsOf(entries, tab).flatMap((band) => band.rows)
  // The list is a moment behind what the server said: what no longer waits is not opened.
  const first = rows.find(({ card }) => data?.items.some(({ callId }) => callId === card.callId))

  const go = (row: Row | undefined) => {
    if (row === undefined) void navigate({ to: "/inbox" })
    else void navigate({ to: "/inbox/$callId", params: { callId: row.card.callId }, replace: true })
  }
  const next = () => go(neighbour(rows, shown, 1) ?? rows.find((row) => !row.gone && row.card.callId !== shown))
  useFirstCard(shown, first?.card.callId)
  useCommandKeys((key) => {
    if (key === "j" || key === "k") {
      const row = neighbour(rows, shown, key === "j" ? 1 : -1)
      if (row !== undefined) go(row)
      return true
    }
    if (key !== "w") return false
    setWide((before) => !before)
    return true
  })

  if (data === undefined)
    return (
      <main id="main" className={look["inbox"]}>
        {error === null ? <Later>{<Skeleton />}</Later> : <ProblemBox error={error} retry={() => void refetch()} />}
      </main>
    )
  const at = rows.findIndex((row) => row.alike.some(({ callId }) => callId === shown))
  const place: Place = {
    at: at + 1,
    of: rows.length,
    wide,
    toggleWide: () => setWide(!wide),
    next,
    together: undefined,
  }
  return (
    <main
      id="main"
      className={wide && shown !== undefined ? `${look["inbox"]} ${look["inbox-wide"]}` : look["inbox"]}
      data-view={shown === undefined ? "list" : "card"}
    >
      {shown !== undefined && <h1 className="vh phone-only">{words.pages.inbox}</h1>}
      <p className="vh" role="status">
        {words.inbox.arrived(data.items.length)}
      </p>
      {!(wide && shown !== undefined) && (
        <InboxList
          entries={entries}
          heldBack={heldBack}
          more={data.total - data.items.length}
          shown={shown}
          tab={tab}
          setTab={setTab}
          setStill={setStill}
        />
      )}
      {shown === undefined ? <First /> : <Pane key={shown} callId={shown} waiting={data.items} place={place} />}
    </main>
  )
}

interface PaneProps {
  readonly callId: string
  readonly waiting: readonly Card[]
  readonly place: Place
}

/** The shown card, or the table of its kind. What is shown stays, whatever else comes and goes. */
function Pane({ callId, waiting, place }: PaneProps) {
  const navigate = useNavigate()
  const shown = useShownCard(callId, waiting)
  // The grouping is decided once, when the card is known: answering one must not change the page.
  const [together, setTogether] = useState<boolean>()
  const [stays, setStays] = useState(false)
  const { one } = useSearch({ strict: false })
  const lookAt = (id: string, alone: boolean) =>
    void navigate({ to: "/inbox/$callId", params: { callId: id }, search: alone ? { one: "yes" } : {} })
  const { card } = shown
  const table = card && tablesAmong([...new Set([...waiting, card])]).find((cards) => cards.includes(card))
  const alike = waiting.filter((other) => table?.includes(other))
  if (together === undefined && card !== undefined) setTogether(alike.length > 1)
  if (together === true && one === undefined && (alike.length > 0 || stays))
    return (
      <AlikePane cards={alike.toSorted(compareCards)} place={place} lookAt={(id) => lookAt(id, true)} stay={setStays} />
    )
  if (card !== undefined) {
    const back = alike.length > 1 ? () => lookAt(callId, false) : undefined
    return <CardPane shown={shown} card={card} place={{ ...place, together: back }} />
  }
  if (shown.standing.state === "waits")
    return (
      <section className="pane">
        <Later>
          <div className="card is-load">
            <div className="sk sk-1" />
            <div className="sk sk-2" />
            <div className="sk sk-3" />
          </div>
        </Later>
      </section>
    )
  return <Gone callId={callId} place={place} />
}

/** Nothing to answer under this id: it no longer waits, or there never was such a call. The audit log knows. */
function Gone({ callId, place }: Pick<PaneProps, "callId" | "place">) {
  const words = useWords()
  const record = useQuery(recordQuery(callId))
  if (record.isPending) return <section className="pane" aria-busy="true" />
  const wasNever = record.data?.length === 0 || (record.error !== null && problemOf(record.error).status === 404)
  return (
    <section className="pane" aria-labelledby="card-title" data-card={callId} data-state="gone">
      <div className={look["gone"]}>
        <Icon name="clock-off" />
        <h2 id="card-title">{wasNever ? words.states.never : words.states.gone}</h2>
        <p className="soft">{wasNever ? words.states.neverMore : words.states.goneMore}</p>
        <code className="dim">{callId}</code>
        <div className={look["gone-b"]}>
          {!wasNever && (
            <Link className="btn" to="/audit/$callId" params={{ callId }}>
              {words.states.follow}
            </Link>
          )}
          <button type="button" className="btn" onClick={place.next}>
            {place.of > 0 ? words.states.next : words.inbox.backToList}
            {place.of > 0 && <kbd aria-hidden="true">J</kbd>}
          </button>
        </div>
      </div>
    </section>
  )
}

/** The list, kept still while the pointer is over it. */
function useEntries(waiting: readonly Card[] | undefined, still: boolean, shown: string | undefined) {
  const [list, setList] = useState<{ entries: readonly Entry[]; heldBack: number }>({ entries: [], heldBack: 0 })
  // Looks again while a card that is gone still stands in its place.
  const tick = useServerTime(list.entries.some(({ goneAt }) => goneAt !== undefined) ? 1000 : 3_600_000)
  useEffect(() => {
    if (waiting === undefined) return
    setList(({ entries }) => nextEntries(entries, waiting, { time: serverNow(), still, shown }))
  }, [waiting, still, shown, tick])
  return list
}

/** On a wide window the first card is opened when none is; from then on only a person opens another. */
function useFirstCard(shown: string | undefined, first: string | undefined) {
  const navigate = useNavigate()
  useEffect(() => {
    if (shown !== undefined || first === undefined || !matchMedia("(min-width: 48em)").matches) return
    void navigate({ to: "/inbox/$callId", params: { callId: first }, replace: true })
  }, [shown, first, navigate])
}

function Skeleton() {
  return (
    <section className={look["list"]} aria-busy="true">
      <div className="head">
        <div className="sk sk-1" />
      </div>
      {[1, 2, 3, 4].map((each) => (
        <div key={each} className={look["row"]}>
          <span />
          <div className="sk sk-2" />
        </div>
      ))}
    </section>
  )
}
