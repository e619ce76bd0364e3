import { tookText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import type { CallRecord } from "./call-facts.ts"
import look from "./audit.module.css"

/** Shows the parts of the time. Time that people took is hatched; a part that is there is at least visible. */
export function TimeBar({ record: { decidedMs, waited, ranMs, facts } }: { record: CallRecord }) {
  const words = useWords()
  const waitedMs = waited.asked + waited.held
  if (facts.state !== "ended") return null
  const parts = [
    { key: "d", ms: decidedMs, name: words.audit.decided },
    ...(facts.asked || facts.held ? [{ key: "w", ms: waitedMs, name: words.audit.waitedFor }] : []),
    ...(facts.ran === true ? [{ key: "r", ms: ranMs, name: words.audit.ranFor }] : []),
  ]
  const whole = Math.max(
    1,
    parts.reduce((sum, { ms }) => sum + ms, 0),
  )
  const widths = parts.map(({ ms }) => Math.max(8, (1000 * ms) / whole))
  const scale = 1000 / widths.reduce((sum, width) => sum + width, 0)
  const begins = widths.map((_, at) => widths.slice(0, at).reduce((sum, width) => sum + width, 0) * scale)
  const text = (ms: number) => tookText(ms, words)
  return (
    <figure className={look["tbw"]} aria-label={words.audit.where(text(decidedMs), text(waitedMs), text(ranMs))}>
      <svg className={look["tb"]} viewBox="0 0 1000 22" preserveAspectRatio="none" aria-hidden="true">
        <defs>
          <pattern id="waited" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <path className={look["tb-h"]} d="M0 0V7" />
          </pattern>
        </defs>
        {parts.map(({ key }, at) => {
          const place = { x: begins[at], width: Math.max(2, (widths[at] ?? 0) * scale - 2), height: 22 }
          return (
            <g key={key}>
              <rect className={look[`tb-${key}`]} {...place} />
              {key === "w" && <rect fill="url(#waited)" {...place} />}
            </g>
          )
        })}
      </svg>
      <figcaption>
        {parts.map(({ key, ms, name }) => (
          <span key={key}>
            {name} <b className="num">{text(ms)}</b>
          </span>
        ))}
      </figcaption>
    </figure>
  )
}
