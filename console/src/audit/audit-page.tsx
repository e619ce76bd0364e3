import { useMediaQuery } from "@mantine/hooks"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { lazy, Suspense, useState } from "react"
import { Icon } from "../ui/icon.tsx"
import { Later } from "../ui/later.tsx"
import { ProblemBox } from "../ui/problem-box.tsx"
import { useWords } from "../words/words.tsx"
import { ExportMenu } from "./export-menu.tsx"
import { Filters } from "./filters.tsx"
import { chartsQuery, rowsQuery, type AuditSearch } from "./queries.ts"
import { Rows } from "./rows.tsx"
import { BrokenLog, Seal, VerifyButton } from "./seal.tsx"
import { useNewCalls } from "./use-new-calls.ts"
import look from "./audit.module.css"

const Charts = lazy(async () => ({ default: (await import("./charts.tsx")).Charts }))
const route = getRouteApi("/frame/audit")

/** Every call that has ended: filters, charts, and the calls themselves, newest first. On a phone the charts are closed. */
export function AuditPage() {
  const words = useWords()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const charts = useQuery(chartsQuery(search))
  const isWide = useMediaQuery("(min-width: 48em)", true, { getInitialValueInEffect: false })
  const [isOpen, setIsOpen] = useState(false)
  return (
    <main className="page" id="main">
      <div className="head">
        <h1>{words.pages.audit}</h1>
        <Seal />
        <span className="grow" />
        <ExportMenu search={search} />
        <VerifyButton />
      </div>
      <div className="scroll">
        <BrokenLog />
        <Filters
          search={search}
          change={(next) => void navigate({ search: next, replace: true })}
          charts={charts.data}
        />
        {!isWide && (
          <button
            type="button"
            className={`btn btn-s ${look["charts-b"]}`}
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            <Icon name={isOpen ? "chevron-down" : "chevron-right"} small />
            {words.audit.charts}
          </button>
        )}
        {!isWide && !isOpen ? null : charts.error !== null && charts.data === undefined ? (
          <ProblemBox error={charts.error} retry={() => void charts.refetch()} />
        ) : (
          <Suspense fallback={<ChartsLoading />}>
            {charts.data === undefined ? <ChartsLoading /> : <Charts charts={charts.data} />}
          </Suspense>
        )}
        <Calls search={search} />
      </div>
    </main>
  )
}

function ChartsLoading() {
  return (
    <div className={`${look["charts"]} ${look["charts-l"]}`} aria-busy="true">
      <Later>
        {["a", "b", "c", "d"].map((key) => (
          <div className={look["chart"]} key={key}>
            <div className="sk" />
            <div className={`sk ${look["sk-h"]}`} />
          </div>
        ))}
      </Later>
    </div>
  )
}

function Calls({ search }: { search: AuditSearch }) {
  const words = useWords()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(rowsQuery(search))
  const fresh = useNewCalls(search)
  if (error !== null && data === undefined) return <ProblemBox error={error} retry={() => void refetch()} />
  if (data === undefined)
    return (
      <Later>
        <div className="sks" aria-busy="true">
          {Array.from({ length: 8 }, (_, at) => (
            <div className="sk" key={`${at}`} />
          ))}
        </div>
      </Later>
    )
  const rows = data.pages.flatMap(({ items }) => items)
  return (
    <>
      {fresh.count > 0 && (
        <button type="button" className={look["new-calls"]} onClick={fresh.show}>
          {words.audit.newOnes(fresh.count)}
        </button>
      )}
      {rows.length === 0 ? <Nothing isFiltered={Object.keys(search).length > 0} /> : <Rows rows={rows} />}
      {error !== null && <ProblemBox error={error} retry={() => void fetchNextPage()} />}
      {hasNextPage && (
        <div className={look["older"]}>
          <button type="button" className="btn" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {words.audit.more}
          </button>
        </div>
      )}
    </>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  const words = useWords()
  return (
    <div className="play-empty">
      <p>
        <b>{isFiltered ? words.audit.none : words.audit.noneYet}</b>
      </p>
      <p className="soft">{isFiltered ? words.audit.noneMore : words.audit.noneYetMore}</p>
      {!isFiltered && (
        <Link className="btn fit" to="/tools">
          <Icon name="tool" />
          {words.audit.toPlayground}
        </Link>
      )}
    </div>
  )
}
