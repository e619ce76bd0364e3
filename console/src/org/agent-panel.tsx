import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { AgentPanelJson } from "../../../src/interfaces/http/routes/org-page-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { useServerTime } from "../api/clock.ts"
import { problemOf } from "../api/http.ts"
import { moneyText } from "../chat/amounts.ts"
import { Grants } from "../rules/grants.tsx"
import { endingText } from "../steps/ending-text.ts"
import { Rail } from "../steps/rail.tsx"
import { ticksOf } from "../steps/ticks.ts"
import { Gone } from "../ui/gone.tsx"
import { Icon } from "../ui/icon.tsx"
import { Loading } from "../ui/loading.tsx"
import { agoText, clockTime, tookText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import { AgentActions } from "./agent-actions.tsx"
import { panelQuery } from "./queries.ts"
import { Doing } from "./tree.tsx"
import look from "./org.module.css"

/** Shows one agent's work in the last hour, its rights, and a person's actions on it. */
export function AgentPanel({ id }: { id: string }) {
  const words = useWords()
  const text = words.govern.org
  const query = useQuery(panelQuery(id))
  const { data, error } = query
  const isGone = error !== null && problemOf(error).status === 404
  if (data === undefined)
    return (
      <aside className={look["panel"]}>
        <div className={look["panelBody"]}>{isGone ? <Gone text={text.gone} /> : <Loading of={query} lines={3} />}</div>
      </aside>
    )
  const { agent, lastHour, groups, counts, costBelow } = data
  const tone = { working: "tag-ok", waiting: "tag-ask" }[agent.activity as string] ?? ""
  return (
    <aside className={look["panel"]} aria-labelledby="agent-t" data-panel={id}>
      <div className={`scroll ${look["panelBody"]}`} tabIndex={0} role="group" aria-label={text.panel(id)}>
        <header className="card-h">
          <Link to="/organisation" className={`ib ${look["back"]}`} aria-label={text.agents}>
            <Icon name="chevron-left" />
          </Link>
          <h2 id="agent-t">{id}</h2>
          <div className="facts">
            <span className={`tag ${tone}`}>{text.doing[agent.activity]}</span>
            <Link to="/organisation/roles/$roleId" params={{ roleId: agent.roleId }}>
              {printable(agent.role)}
            </Link>
            {agent.department !== undefined && <span>{agent.department}</span>}
            {agent.level !== undefined && <span>{text.level(agent.level)}</span>}
          </div>
        </header>
        {isGone && <Gone text={text.gone} />}
        <p className={look["doing"]}>
          <Doing agent={agent} />
        </p>
        <dl className={look["figures"]}>
          <div>
            <dt>{text.lastHour}</dt>
            <dd className="num">{lastHour.calls}</dd>
            <dd>
              <Bars values={lastHour.minutes} label={text.lastHour} />
              {lastHour.failures > 0 && <span className="dim">{text.failed(lastHour.failures)}</span>}
            </dd>
          </div>
          <div>
            <dt>{text.asked}</dt>
            <dd className="num">{lastHour.asked}</dd>
            <dd className="dim">{text.yesNo(lastHour.yes, lastHour.no)}</dd>
          </div>
          <div>
            <dt>{text.cost}</dt>
            <dd className="num">{moneyText(agent.cost)}</dd>
            <dd className="dim">{costBelow > agent.cost && text.withBelow(moneyText(costBelow))}</dd>
          </div>
        </dl>
        <section>
          <h3 className="h3">{text.has}</h3>
          <p className="hint">{text.counts(counts.runs, counts.asks)}</p>
          <div>
            {groups
              .filter(({ has }) => has)
              .map((group) => (
                <Group key={group.id} group={group} />
              ))}
          </div>
        </section>
        <section>
          <h3 className="h3">{text.remembered}</h3>
          <Grants agentId={id} />
        </section>
        <Recent calls={lastHour.recent} />
        <Messages panel={data} />
      </div>
      <AgentActions panel={data} isGone={isGone} />
    </aside>
  )
}

/** Shows the number of calls in each two minutes. */
function Bars({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(1, ...values)
  return (
    <svg
      className={look["bars"]}
      viewBox={`0 0 ${values.length * 3} 16`}
      role="img"
      aria-label={`${label}: ${values.join(" ")}`}
    >
      {values.map((value, at) => {
        const height = value === 0 ? 1 : Math.max(2, (16 * value) / most)
        return <rect key={`${at}`} x={at * 3} y={16 - height} width="2" height={height} />
      })}
    </svg>
  )
}

function Group({ group: { id, tools } }: { group: AgentPanelJson["groups"][number] }) {
  const { govern } = useWords()
  const order = { runs: 0, asks: 1, denied: 2 }
  return (
    <details className={look["group"]}>
      <summary>
        <b>{id}</b> <span className="dim num">{tools.filter(({ does }) => does !== "denied").length}</span>
      </summary>
      <p className={look["verdicts"]}>
        {tools
          .toSorted((one, other) => order[one.does] - order[other.does])
          .map(({ name, does, reason }) => (
            <code key={name} data-does={does} title={reason?.sentence ?? govern.role.legend[does]}>
              {name}
              <span className="vh">: {govern.role.legend[does]}</span>
            </code>
          ))}
      </p>
    </details>
  )
}

function Recent({ calls }: { calls: AgentPanelJson["lastHour"]["recent"] }) {
  const words = useWords()
  return (
    <section>
      <h3 className="h3">{words.govern.org.recent}</h3>
      {calls.length === 0 && <p className="hint">{words.govern.org.noCalls}</p>}
      <ul className={look["recent"]}>
        {calls.slice(0, 20).map((call) => {
          const facts = { ...call, state: "ended" as const }
          return (
            <li key={call.callId}>
              <Link to="/audit/$callId" params={{ callId: call.callId }}>
                <time className="num dim">{clockTime(call.at)}</time>
                <Rail ticks={ticksOf(facts)} label={endingText(facts, words)} />
                <b className="mono">{call.tool}</b>
                <code className="cut grow">{printable(call.summary)}</code>
                <span className="dim num">{tookText(call.durationMs, words)}</span>
              </Link>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function Messages({ panel: { messages } }: { panel: AgentPanelJson }) {
  const words = useWords()
  const text = words.govern.org
  const now = useServerTime(15_000)
  return (
    <section>
      <h3 className="h3">{text.messages}</h3>
      {messages.length === 0 && <p className="hint">{text.noMessages}</p>}
      <ul className={look["messages"]}>
        {messages.slice(0, 20).map(({ id, from, to, payload, createdAt }) => (
          <li key={id}>
            <span className="dim">
              {`${text.fromTo(printable(from), printable(to))}${words.card.comma}${agoText(now - createdAt, words)}`}
            </span>
            <p>{printable(payloadText(payload)).slice(0, 400)}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

function payloadText(payload: unknown): string {
  if (typeof payload === "string") return payload
  const { message } = Object(payload) as { message?: unknown }
  return typeof message === "string" ? message : JSON.stringify(payload)
}
