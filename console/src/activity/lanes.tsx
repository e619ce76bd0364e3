import { Link } from "@tanstack/react-router"
import type { LaneJson, SpanJson } from "../../../src/interfaces/http/routes/activity-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { clockTime, spanText, tookText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import look from "./activity.module.css"

interface Props {
  readonly lanes: readonly LaneJson[]
  readonly since: number
  readonly now: number
}

/** A lane by agent. Short calls are as wide as can be seen; the time that people were waited for is hatched. */
export function Lanes({ lanes, since, now }: Props) {
  const words = useWords()
  const text = words.govern.activity
  const at = (time: number) => Math.max(0, Math.min(1000, ((time - since) / (now - since)) * 1000))
  const titleOf = ({ tool, summary, verdict, from, to = now, waits }: SpanJson) => {
    const waited = waits.reduce((sum, wait) => sum + (wait.to ?? now) - wait.from, 0)
    const parts = [`${tool} ${printable(summary)}`, text.verdicts[verdict], clockTime(from), tookText(to - from, words)]
    return [...parts, ...(waited > 0 ? [text.waited(spanText(waited, words))] : [])].join(words.card.comma)
  }
  return (
    <div className={look["lanes"]}>
      <div className={look["lane"]} aria-hidden="true">
        <span />
        <span className={look["marks"]}>
          {[0, 0.25, 0.5, 0.75, 1].map((share) => (
            <span key={share} className="num">
              {clockTime(since + share * (now - since)).slice(0, 5)}
            </span>
          ))}
        </span>
      </div>
      {lanes.slice(0, 100).map(({ agentId, spans, live }) => (
        <div key={agentId} className={look["lane"]} data-lane={agentId}>
          <span className="cut">
            <Link to="/organisation/agents/$agentId" params={{ agentId }}>
              {agentId}
            </Link>
            {!live && <span className="dim"> {text.ended}</span>}
          </span>
          <svg
            viewBox="0 0 1000 18"
            preserveAspectRatio="none"
            role="img"
            aria-label={text.lane(agentId, spans.length)}
          >
            {spans.map((span) => (
              <g key={span.callId}>
                <title>{titleOf(span)}</title>
                <rect
                  className={look["span"]}
                  data-verdict={span.verdict}
                  x={at(span.from)}
                  y="2"
                  width={Math.max(3, at(span.to ?? now) - at(span.from))}
                  height="14"
                />
                {span.waits.map((wait) => (
                  <rect
                    key={wait.from}
                    className={look["wait"]}
                    x={at(wait.from)}
                    y="2"
                    width={Math.max(2, at(wait.to ?? now) - at(wait.from))}
                    height="14"
                  />
                ))}
              </g>
            ))}
          </svg>
        </div>
      ))}
      <svg width="0" height="0" aria-hidden="true">
        <pattern id="wait-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect className={look["hatchGround"]} width="5" height="5" />
          <rect className={look["hatch"]} width="2" height="5" />
        </pattern>
      </svg>
    </div>
  )
}
