import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { printable } from "../../../src/lib/printable.ts"
import { endingText } from "../steps/ending-text.ts"
import { Rail } from "../steps/rail.tsx"
import { ticksOf } from "../steps/ticks.ts"
import { clockTime, tookText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import { activityQuery, callsOf, factsOf, type CallOfAgent } from "./queries.ts"
import look from "./activity.module.css"

/** The newest calls of all agents, live. */
export function Now() {
  const { govern } = useWords()
  const { data } = useQuery(activityQuery({}, 60))
  return (
    <section className={look["now"]} aria-label={govern.org.now}>
      <div className={look["nowHead"]}>
        <h2 className="h3">{govern.org.now}</h2>
        <i className="dot dot-live" />
        <span className="dim grow">{govern.org.live}</span>
        <Link to="/activity">{govern.org.allActivity}</Link>
      </div>
      <div className="scroll" tabIndex={0} role="group" aria-label={govern.org.callsNow}>
        <Calls calls={callsOf(data?.lanes ?? []).slice(0, 40)} />
      </div>
    </section>
  )
}

const tones: Partial<Record<string, string>> = {
  waits: "tag-ask",
  held: "tag-held",
  refused: "tag-deny",
  not_approved: "tag-ask",
}

/** Calls in a table, newest first. */
export function Calls({ calls }: { calls: readonly CallOfAgent[] }) {
  const words = useWords()
  const { verdicts, table } = words.govern.activity
  return (
    <table className="tbl tbl-s">
      <caption className="vh">{table}</caption>
      <tbody>
        {calls.map((call) => {
          const { callId, agentId, tool, summary, verdict, from, to } = call
          const facts = factsOf(call)
          const tone = tones[verdict]
          return (
            <tr key={callId} data-call={callId} data-verdict={verdict}>
              <td className="num dim">{clockTime(from)}</td>
              <td>
                <Link to="/organisation/agents/$agentId" params={{ agentId }}>
                  {agentId}
                </Link>
              </td>
              <td className="mono">{tool}</td>
              <td className="mono soft cutcell">{printable(summary)}</td>
              <td className={look["rail"]}>
                <Link to="/audit/$callId" params={{ callId }}>
                  <Rail ticks={ticksOf(facts)} label={endingText(facts, words)} />
                </Link>
              </td>
              <td className="num">
                {tone !== undefined ? (
                  <span className={`tag ${tone}`}>{verdicts[verdict]}</span>
                ) : verdict === "ran" && to !== undefined ? (
                  tookText(to - from, words)
                ) : (
                  verdicts[verdict]
                )}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
