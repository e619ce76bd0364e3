import { useState } from "react"
import type { Charts as ChartData } from "../../../src/interfaces/http/routes/audit-schemas.ts"
import { clockTime, dateText, dayText, spanText, tookText } from "../words/time-text.ts"
import { useLanguage, useWords } from "../words/words.tsx"
import { HourBars, TimeLines } from "./plots.tsx"
import { sumByDay, seriesNames } from "./series.ts"
import look from "./audit.module.css"

/** Calls and endings, times, waiting and tools. Each says in words what it shows; the table is below. */
export function Charts({ charts }: { charts: ChartData }) {
  const words = useWords()
  const isLong = charts.hours.length > 24 * 8
  const hours = isLong ? sumByDay(charts.hours) : charts.hours
  return (
    <section className={look["charts"]} aria-label={words.audit.charts}>
      <CallsChart hours={hours} isLong={isLong} />
      <TimesChart charts={charts} hours={hours} />
      <WaitsChart charts={charts} />
      <ToolsChart charts={charts} />
    </section>
  )
}

type Hours = ChartData["hours"]

function CallsChart({ hours, isLong }: { hours: Hours; isLong: boolean }) {
  const words = useWords()
  const { language } = useLanguage()
  const sums = seriesNames.map((name) => hours.reduce((sum, hour) => sum + hour[name], 0))
  const total = sums.reduce((sum, each) => sum + each, 0)
  const all = hours.map((hour) => seriesNames.reduce((sum, name) => sum + hour[name], 0))
  const most = Math.max(0, ...all)
  const at = hours[all.indexOf(most)]?.at ?? 0
  const when = isLong ? dateText(at, language) : `${dayText(at, language)}${clockTime(at).slice(0, 5)}`
  const summary = total === 0 ? words.audit.sumNothing : words.audit.sumCalls(total, most, when)
  return (
    <figure className={`${look["chart"]} ${look["chart-1"]}`}>
      <figcaption>
        <h2>{isLong ? words.audit.perDay : words.audit.perHour}</h2>
        <ul className={look["leg"]}>
          {seriesNames.map((name, index) => (
            <li key={name}>
              <i className={look[`k${index}`]} />
              {words.audit.series[name]} <b className="num">{sums[index]?.toLocaleString("en")}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <HourBars hours={hours} label={summary} />
    </figure>
  )
}

function TimesChart({ charts, hours }: { charts: ChartData; hours: Hours }) {
  const words = useWords()
  const { p50, p95 } = charts.total
  const text = (value: number | null) => (value === null ? "–" : tookText(value, words))
  const summary = p50 === null ? words.audit.sumNothing : words.audit.sumTimes(text(p50), text(p95))
  return (
    <figure className={look["chart"]}>
      <figcaption>
        <h2>{words.audit.timeToRun}</h2>
        <p className="num">
          <b>{text(p50)}</b> p50 <b>{text(p95)}</b> p95
        </p>
      </figcaption>
      <TimeLines hours={hours} label={summary} />
    </figure>
  )
}

type WaitsView = "time" | "tools" | "agents"

/** Shows the time people took to answer: by time, or by the tool or the agent that waited for them. */
function WaitsChart({ charts: { waits, waitsBy, expired, total } }: { charts: ChartData }) {
  const words = useWords()
  const [view, setView] = useState<WaitsView>("time")
  const most = Math.max(1, expired, ...waits.map(({ count }) => count))
  const answers = waits.reduce((sum, { count }) => sum + count, 0)
  const median = total.waitP50 === null ? undefined : tookText(total.waitP50, words)
  return (
    <figure className={look["chart"]}>
      <figcaption>
        <h2>{words.audit.waiting}</h2>
        <p className="num">
          {median !== undefined && (
            <>
              <b>{median}</b> {words.audit.median}
            </>
          )}
        </p>
      </figcaption>
      <p className="vh">{median === undefined ? words.audit.sumNothing : words.audit.sumWaits(answers, median)}</p>
      <div className="seg seg-s" role="group" aria-label={words.audit.waitsBy}>
        {(["time", "tools", "agents"] as const).map((each) => (
          <button key={each} type="button" aria-pressed={view === each} onClick={() => setView(each)}>
            {words.audit.waitsView[each]}
          </button>
        ))}
      </div>
      {view === "time" ? (
        <ul className={`${look["hb"]} ${look["hb-w"]}`}>
          {waits.map(({ upTo, count }) => (
            <Bar
              key={upTo ?? "longer"}
              name={upTo === null ? words.audit.longer : words.audit.under(spanText(upTo, words))}
              count={count}
              of={most}
            />
          ))}
          <Bar name={words.audit.expired} count={expired} of={most} className={look["hb-x"]} />
        </ul>
      ) : (
        <WaitsBy waits={waitsBy[view]} />
      )}
    </figure>
  )
}

function WaitsBy({ waits }: { waits: ChartData["waitsBy"]["tools"] }) {
  const words = useWords()
  if (waits.length === 0) return <p className="hint">{words.audit.sumNothing}</p>
  const most = Math.max(...waits.map(({ count }) => count))
  return (
    <ul className={`${look["hb"]} ${look["hb-w"]} ${look["hb-3"]}`}>
      {waits.map(({ name, count, p50 }) => (
        <Bar key={name} name={name} count={count} of={most} mono after={tookText(p50, words)} />
      ))}
    </ul>
  )
}

function ToolsChart({ charts: { tools, hours } }: { charts: ChartData }) {
  const words = useWords()
  const top = tools.slice(0, 6)
  const most = Math.max(1, ...top.map(({ count }) => count))
  const shown = top.reduce((sum, { count }) => sum + count, 0)
  const all = hours.reduce((sum, hour) => sum + hour.ran + hour.failed + hour.notApproved + hour.refused, 0)
  return (
    <figure className={look["chart"]}>
      <figcaption>
        <h2>{words.audit.topTools}</h2>
        <p className="num">{words.audit.ofCalls(shown, Math.max(shown, all))}</p>
      </figcaption>
      {top.length === 0 && <p className="hint">{words.audit.sumNothing}</p>}
      <ul className={look["hb"]}>
        {top.map(({ tool, count }) => (
          <Bar key={tool} name={tool} count={count} of={most} mono />
        ))}
      </ul>
    </figure>
  )
}

interface BarProps {
  readonly name: string
  readonly count: number
  readonly of: number
  readonly className?: string
  readonly mono?: boolean
  readonly after?: string
}

function Bar({ name, count, of, className = "", mono = false, after }: BarProps) {
  return (
    <li>
      {mono ? (
        <code className="cut" title={name}>
          {name}
        </code>
      ) : (
        <span className="cut">{name}</span>
      )}
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect className={look["hb-bg"]} width="100" height="8" rx="1" />
        <rect className={`${look["hb-fg"]} ${className}`} width={(100 * count) / of} height="8" rx="1" />
      </svg>
      <span className="num">{count}</span>
      {after !== undefined && <span className="num dim">{after}</span>}
    </li>
  )
}
