import "uplot/dist/uPlot.min.css"
import { useComputedColorScheme } from "@mantine/core"
import { useEffect, useRef } from "react"
import uPlot from "uplot"
import type { Charts } from "../../../src/interfaces/http/routes/audit-schemas.ts"
import { dateText, tookText } from "../words/time-text.ts"
import { useLanguage, useWords, type Language } from "../words/words.tsx"
import { stacked } from "./series.ts"
import look from "./audit.module.css"

type Hours = Charts["hours"]
type Options = Omit<uPlot.Options, "width" | "height">

const height = 132
const bars = uPlot.paths.bars?.({ size: [0.7, 26], align: 1 })

/** A token's colour now. A canvas cannot read CSS by itself. */
const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--qm-${name}`).trim()

/** Calls per hour, stacked by ending. */
export function HourBars({ hours, label }: { hours: Hours; label: string }) {
  const { language } = useLanguage()
  const make = (): Options => {
    const fills = ["chart-refused", "chart-asked", "chart-failed", "chart-ok"].map(colour)
    return {
      ...base,
      series: [
        {},
        ...fills.map((fill) => ({
          fill,
          stroke: fill,
          width: 0,
          points: { show: false },
          ...(bars && { paths: bars }),
        })),
      ],
      scales: {
        x: { time: true, range: wholeHours(hours) },
        y: { range: (_, _low, high) => [0, Math.max(4, high * 1.08)] },
      },
      axes: [
        timeAxis(hours, language),
        { ...axis(), size: 34, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000] },
      ],
    }
  }
  // The tallest is drawn first, and each shorter one over it.
  const data = [hours.map(({ at }) => at / 1000), ...stacked(hours).toReversed()] as uPlot.AlignedData
  return <Plot make={make} data={data} label={label} />
}

/** The time that half and 95 percent of the calls took, on a scale of powers of ten. */
export function TimeLines({ hours, label }: { hours: Hours; label: string }) {
  const words = useWords()
  const { language } = useLanguage()
  const make = (): Options => {
    const line = (name: "p50" | "p95"): uPlot.Series => {
      const stroke = colour(`chart-${name}`)
      return {
        label: name,
        stroke,
        width: 1.75,
        spanGaps: true,
        points: { show: true, size: 4, width: 1, fill: stroke, stroke },
      }
    }
    return {
      ...base,
      series: [{}, line("p50"), line("p95")],
      scales: {
        x: { time: true, range: wholeHours(hours) },
        y: {
          distr: 3,
          log: 10,
          range: (_, low, high) => [
            10 ** Math.floor(Math.log10(low ?? 1)),
            10 ** Math.ceil(Math.log10((high ?? 1000) * 1.2)),
          ],
        },
      },
      axes: [
        timeAxis(hours, language),
        {
          ...axis(),
          size: 52,
          space: 16,
          splits: (_plot, _axis, low, high) => powersOfTen(low, high),
          filter: (_, splits) => splits,
          values: (_, splits) => splits.map((at) => tookText(at, words)),
        },
      ],
      hooks: { draw: [labelEnds] },
    }
  }
  const times = (name: "p50" | "p95") => hours.map((hour) => (hour[name] === null ? null : Math.max(1, hour[name])))
  const data = [hours.map(({ at }) => at / 1000), times("p50"), times("p95")] as uPlot.AlignedData
  return <Plot make={make} data={data} label={label} />
}

function powersOfTen(low: number, high: number): number[] {
  const first = Math.round(Math.log10(low))
  const count = Math.round(Math.log10(high)) - first + 1
  return Array.from({ length: count }, (_, at) => 10 ** (first + at))
}

const base = {
  legend: { show: false },
  cursor: { show: false },
  padding: [8, 12, 0, 0] as [number, number, number, number],
}

// A whole number: uPlot scales only the digits before "px".
const font = () => `11px ${getComputedStyle(document.body).fontFamily}`

const axis = (): uPlot.Axis => ({
  stroke: colour("ink-3"),
  font: font(),
  gap: 4,
  grid: { stroke: colour("chart-grid"), width: 1 },
  ticks: { show: false },
})

function timeAxis(hours: Hours, language: Language): uPlot.Axis {
  const isLong = hours.length > 49 || spacing(hours) > 3_600_000
  const text = (at: number) =>
    isLong ? dateText(at * 1000, language) : String(new Date(at * 1000).getHours()).padStart(2, "0")
  return {
    ...axis(),
    size: 20,
    space: isLong ? 56 : 28,
    grid: { show: false },
    values: (_, splits) => splits.map(text),
  }
}

const spacing = (hours: Hours) => (hours.length > 1 ? (hours[1]?.at ?? 0) - (hours[0]?.at ?? 0) : 3_600_000)

/** From the begin of the first hour to the end of the last. */
const wholeHours =
  (hours: Hours): uPlot.Range.Function =>
  () => {
    const first = (hours[0]?.at ?? 0) / 1000
    return [first, (hours.at(-1)?.at ?? 0) / 1000 + spacing(hours) / 1000]
  }

/** Writes the name of each line above its last point. */
function labelEnds(plot: uPlot) {
  const { ctx, data, series } = plot
  ctx.save()
  ctx.font = `600 ${11 * devicePixelRatio}px ${getComputedStyle(document.body).fontFamily}`
  ctx.textAlign = "right"
  for (const at of [1, 2]) {
    const values = data[at] ?? []
    const last = values.findLastIndex((value) => value !== null)
    if (last === -1) continue
    const x = plot.valToPos(data[0][last] ?? 0, "x", true)
    const y = plot.valToPos(values[last] ?? 1, "y", true)
    ctx.fillStyle = colour(`chart-${String(series[at]?.label)}`)
    const isBelow = at === 1 && y + 18 * devicePixelRatio < plot.bbox.top + plot.bbox.height
    const right = plot.bbox.left + plot.bbox.width
    ctx.fillText(
      String(series[at]?.label),
      Math.min(right, x + 12 * devicePixelRatio),
      isBelow ? y + 14 * devicePixelRatio : y - 7 * devicePixelRatio,
    )
  }
  ctx.restore()
}

/** Draws again when the data, the theme, the language or the width changes. */
function Plot({ make, data, label }: { make: () => Options; data: uPlot.AlignedData; label: string }) {
  const place = useRef<HTMLDivElement>(null)
  const theme = useComputedColorScheme()
  const latest = useRef({ make, data })
  latest.current = { make, data }
  const { language } = useLanguage()
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const width = () => Math.max(120, element.clientWidth)
    const plot = new uPlot({ ...latest.current.make(), width: width(), height }, latest.current.data, element)
    const observer = new ResizeObserver(() => plot.setSize({ width: width(), height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [theme, language, data])
  return <div ref={place} className={look["plot"]} role="img" aria-label={label} />
}
