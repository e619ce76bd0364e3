import { useInfiniteQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useVirtualizer } from "@tanstack/react-virtual"
import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react"
import type { ConversationJson } from "../../../src/interfaces/http/routes/chain-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { serverNow } from "../api/clock.ts"
import { useMe } from "../api/queries.ts"
import { Icon } from "../ui/icon.tsx"
import { Later } from "../ui/later.tsx"
import { ProblemBox } from "../ui/problem-box.tsx"
import { clockTime, dateText } from "../words/time-text.ts"
import { moneyText } from "./amounts.ts"
import { useLanguage, useWords } from "../words/words.tsx"
import { chatsQuery } from "./queries.ts"
import look from "./threads.module.css"

type Line = { readonly day: string } | { readonly chat: ConversationJson }

/** The conversations, those used last first, by day. Only what is in view is drawn. */
export function Threads({ shown }: { shown: string | undefined }) {
  const words = useWords()
  const { language } = useLanguage()
  const { scopes } = useMe()
  const [search, setSearch] = useState("")
  const query = useInfiniteQuery(chatsQuery(useDeferredValue(search.trim())))
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = query
  const scroller = useRef<HTMLDivElement>(null)
  const lines = useMemo(() => {
    const today = new Date(serverNow()).toDateString()
    const yesterday = new Date(serverNow() - 86_400_000).toDateString()
    const nameOf = (at: number) => {
      const day = new Date(at).toDateString()
      if (day === today) return words.chat.today
      return day === yesterday ? words.chat.yesterday : dateText(at, language, true)
    }
    let last = ""
    return (data?.pages ?? []).flatMap(({ items }) =>
      items.flatMap((chat): Line[] => {
        const day = nameOf(chat.updatedAt)
        if (day === last) return [{ chat }]
        last = day
        return [{ day }, { chat }]
      }),
    )
  }, [data, words, language])
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (at) => (isDay(lines[at]) ? 34 : 50),
    overscan: 12,
  })
  const drawn = rows.getVirtualItems()
  const last = drawn.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= lines.length - 10) void fetchNextPage()
  }, [last, lines.length, hasNextPage, isFetchingNextPage, fetchNextPage])

  return (
    <aside className={look["threads"]} aria-label={words.chat.title}>
      <div className="head">
        <h1>{words.pages.chat}</h1>
        <span className="grow" />
        {scopes.includes("call") && (
          <Link to="/chat" search={{ begin: "yes" }} className="btn btn-s">
            <Icon name="plus" small />
            {words.chat.newOne}
          </Link>
        )}
      </div>
      <div className={look["find"]}>
        <input
          className="in"
          type="search"
          aria-label={words.chat.search}
          placeholder={words.chat.find}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      </div>
      <div ref={scroller} className="scroll" tabIndex={0} role="group" aria-label={words.chat.title}>
        {error !== null && data === undefined && <ProblemBox error={error} retry={() => void refetch()} />}
        {data === undefined && error === null && (
          <Later>
            <div className={look["empty"]} aria-busy="true">
              <div className="sk sk-2" />
              <div className="sk sk-2" />
            </div>
          </Later>
        )}
        {data !== undefined && lines.length === 0 && (
          <div className={look["empty"]}>
            <b>{search === "" ? words.chat.none : words.frame.nothingFound}</b>
            <p className="soft">{search === "" ? words.chat.noneMore : words.chat.noneFound}</p>
          </div>
        )}
        <div role="list" className={look["lines"]} style={{ height: rows.getTotalSize() }}>
          {drawn.map(({ index, start, key }) => {
            const line = lines[index]
            if (line === undefined) return null
            return (
              <div
                key={key}
                role="listitem"
                className={look["line"]}
                style={{ transform: `translateY(${start}px)` }}
                data-index={index}
                ref={rows.measureElement}
              >
                {"day" in line ? (
                  <p className={look["day"]}>{line.day}</p>
                ) : (
                  <Thread chat={line.chat} current={line.chat.id === shown} />
                )}
              </div>
            )
          })}
        </div>
      </div>
    </aside>
  )
}

const isDay = (line: Line | undefined) => line !== undefined && "day" in line

const dots = { working: "dot-run", waiting: "dot-wait", failed: "dot-deny", done: "", stopped: "" } as const

function Thread({ chat, current }: { chat: ConversationJson; current: boolean }) {
  const words = useWords()
  const { id, title, agentId, shown, updatedAt, cost } = chat
  return (
    <Link
      to="/chat/$chatId"
      params={{ chatId: id }}
      className={look["thread"]}
      aria-current={current ? "page" : undefined}
      data-chat={id}
      data-state={shown}
    >
      <i className={`dot ${dots[shown]}`} />
      <span className="grow cut" title={printable(title)}>
        {printable(title)}
      </span>
      <time className={look["when"]}>{clockTime(updatedAt).slice(0, 5)}</time>
      <span className={`${look["who"]} cut`}>
        {agentId}
        {shown === "done" ? "" : `${words.card.comma}${words.chat.state[shown]}`}
      </span>
      {cost > 0 && <span className={look["when"]}>{moneyText(cost)}</span>}
    </Link>
  )
}
