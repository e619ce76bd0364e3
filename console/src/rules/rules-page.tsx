import { useMediaQuery } from "@mantine/hooks"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useVirtualizer } from "@tanstack/react-virtual"
import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react"
import type { ShownRuleJson } from "../../../src/interfaces/http/routes/rules-page-schemas.ts"
import type { Suggestion } from "../../../src/interfaces/http/routes/schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { suggestionsQuery, useMe } from "../api/queries.ts"
import { Icon } from "../ui/icon.tsx"
import { Loading } from "../ui/loading.tsx"
import { dateText } from "../words/time-text.ts"
import { useLanguage, useWords } from "../words/words.tsx"
import { AskWhy } from "./ask-why.tsx"
import { draftOf, emptyDraft } from "./draft.ts"
import { flawText } from "./flaw-text.ts"
import { Grants } from "./grants.tsx"
import { RuleEditor } from "./rule-editor.tsx"
import { RulePane } from "./rule-pane.tsx"
import { matchText, verdictClass } from "./rule-text.ts"
import { rulesQuery } from "./queries.ts"
import look from "./rules.module.css"

/** Shows the rules in force, the effect of a new one, remembered answers, and why a call is decided as it is. */
export function RulesPage() {
  const words = useWords()
  const { tab = "rules", id } = useSearch({ strict: false })
  const { scopes } = useMe()
  const { data } = useInfiniteQuery(rulesQuery(""))
  const text = words.govern.rules
  return (
    <main id="main" className={look["page"]} data-view={id === undefined ? "list" : "card"}>
      <div className="head">
        <h1>{words.pages.rules}</h1>
        <nav className="seg" aria-label={words.govern.org.view}>
          {(["rules", "remembered", "why"] as const).map((each) => (
            <Link key={each} to="/rules" search={{ tab: each }} aria-current={tab === each ? "page" : undefined}>
              {text[each]}
            </Link>
          ))}
        </nav>
        <span className="grow" />
        {data !== undefined && (
          <span className="dim wide-only">
            {text.policy} <code>{data.pages[0]?.version.slice(0, 12)}</code>
          </span>
        )}
        {scopes.includes("manage") && (
          <Link to="/rules" search={{ id: "new" }} className="btn btn-s">
            <Icon name="plus" small />
            {text.newRule}
          </Link>
        )}
      </div>
      {tab === "remembered" ? <Grants /> : tab === "why" ? <AskWhy /> : <Rules id={id} />}
    </main>
  )
}

function Rules({ id }: { id: string | undefined }) {
  const words = useWords()
  const navigate = useNavigate()
  const wide = useMediaQuery("(min-width: 64em)", true, { getInitialValueInEffect: false })
  const { data: suggestions = [] } = useQuery(suggestionsQuery)
  const suggested = /^suggestion-(\d+)$/.exec(id ?? "")?.[1]
  const suggestion = suggested === undefined ? undefined : suggestions[Number(suggested)]
  const close = () => void navigate({ to: "/rules" })
  const open = (next: string) => void navigate({ to: "/rules", search: { id: next }, replace: true })
  return (
    <div className={look["columns"]}>
      {(wide || id === undefined) && <List shown={id} suggestions={suggestions} />}
      {id === "new" ? (
        <RuleEditor key="new" begin={emptyDraft} close={close} saved={open} />
      ) : suggestion !== undefined ? (
        <RuleEditor key={id} begin={draftOf(suggestion.rule)} suggestion={suggestion} close={close} saved={open} />
      ) : id !== undefined && suggested === undefined ? (
        <RulePane key={id} id={id} close={close} open={open} />
      ) : (
        wide && <p className={`${look["nothing"]} soft`}>{words.govern.rules.chooseMore}</p>
      )}
    </div>
  )
}

type Row = { readonly rule: ShownRuleJson } | { readonly suggestion: Suggestion; readonly at: number }

/** The rules, only those in view drawn; above them what answers suggest. */
function List({ shown, suggestions }: { shown: string | undefined; suggestions: readonly Suggestion[] }) {
  const words = useWords()
  const text = words.govern.rules
  const [search, setSearch] = useState("")
  const query = useInfiniteQuery(rulesQuery(useDeferredValue(search.trim())))
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const scroller = useRef<HTMLDivElement>(null)
  const rows = useMemo(
    (): readonly Row[] => [
      ...suggestions.map((suggestion, at) => ({ suggestion, at })),
      ...(data?.pages ?? []).flatMap(({ items }) => items.map((rule) => ({ rule }))),
    ],
    [data, suggestions],
  )
  const lines = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 76,
    overscan: 8,
  })
  const drawn = lines.getVirtualItems()
  const last = drawn.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= rows.length - 10) void fetchNextPage()
  }, [last, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage])
  const first = data?.pages[0]
  return (
    <section className={look["list"]} aria-label={text.rules}>
      <div className={look["summary"]}>
        <span className="dim grow">{first !== undefined && text.summary(first.total, first.flawed)}</span>
        <input
          className="in"
          type="search"
          aria-label={text.find}
          placeholder={words.chat.find}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <span className="dim wide-only">{text.days}</span>
      </div>
      <div ref={scroller} className="scroll" tabIndex={0} role="group" aria-label={text.rules}>
        {data === undefined && <Loading of={query} lines={4} />}
        {data !== undefined && rows.length === 0 && (
          <div className={look["nothing"]}>
            <b>{search === "" ? text.none : words.frame.nothingFound}</b>
            <p className="soft">{search === "" ? text.noneMore : text.noneFound}</p>
          </div>
        )}
        <div role="list" className={look["lines"]} style={{ height: lines.getTotalSize() }}>
          {drawn.map(({ index, start, key }) => {
            const row = rows[index]
            return (
              row !== undefined && (
                <div
                  key={key}
                  role="listitem"
                  className={look["line"]}
                  style={{ transform: `translateY(${start}px)` }}
                  data-index={index}
                  ref={lines.measureElement}
                >
                  {"rule" in row ? (
                    <RuleRow rule={row.rule} current={row.rule.id === shown} />
                  ) : (
                    <SuggestionRow {...row} current={shown === `suggestion-${row.at}`} />
                  )}
                </div>
              )
            )
          })}
        </div>
      </div>
    </section>
  )
}

function RuleRow({ rule, current }: { rule: ShownRuleJson; current: boolean }) {
  const words = useWords()
  const text = words.govern.rules
  const { language } = useLanguage()
  const { id, verdict, tool, because, source, addedBy, stored, decided, flaws, shadow, expired, expiresAt } = rule
  return (
    <Link
      to="/rules"
      search={{ id }}
      className={look["rule"]}
      aria-current={current ? "page" : undefined}
      data-rule={id}
      data-verdict={verdict}
    >
      <span className={verdictClass(verdict)}>{text.verdict[verdict]}</span>
      <span className={look["what"]}>
        <span className={look["title"]}>
          <code>{printable(tool)}</code> <span className="soft">{printable(matchText(rule, words))}</span>
          {shadow === true && <span className="tag">{text.shadow}</span>}
          {expired && <span className="tag">{text.expired}</span>}
        </span>
        <span>{printable(because)}</span>
        <span className={look["source"]}>
          {stored && addedBy !== undefined ? text.addedBy(printable(addedBy)) : source}
          {expiresAt !== undefined && !expired && (
            <> · {text.endsOn(dateText(Date.parse(expiresAt), language, true))}</>
          )}
          {flaws.map(({ kind, sentence }) => (
            <span key={sentence} className={look["flaw"]}>
              <Icon name="alert-triangle" small />
              {text.flaw[kind]}: {flawText(sentence, language)}
            </span>
          ))}
        </span>
      </span>
      <span className="num dim" title={shadow === true ? text.wouldDecide(decided) : text.decided(decided)}>
        {decided}
      </span>
    </Link>
  )
}

function SuggestionRow({ suggestion, at, current }: { suggestion: Suggestion; at: number; current: boolean }) {
  const words = useWords()
  const draft = draftOf(suggestion.rule)
  return (
    <Link
      to="/rules"
      search={{ id: `suggestion-${at}` }}
      className={`${look["rule"]} ${look["suggested"]}`}
      aria-current={current ? "page" : undefined}
      data-suggestion={at}
    >
      <span className={verdictClass(draft.verdict)}>{words.govern.rules.verdict[draft.verdict]}</span>
      <span className={look["what"]}>
        <span className={look["title"]}>
          <code>{printable(draft.tool)}</code>{" "}
          <span className="soft">
            {printable([draft.touching, draft.hosts, draft.agent].filter(Boolean).join(words.card.comma))}
          </span>
        </span>
        <span className={look["source"]}>
          {words.govern.rules.suggestions}
          {words.card.comma}
          {words.govern.rules.draft(suggestion.approvals)}
        </span>
      </span>
      <span className="num dim">{suggestion.approvals}</span>
    </Link>
  )
}
