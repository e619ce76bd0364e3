import { useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import type { ActivityJson } from "../../../src/interfaces/http/routes/activity-schemas.ts"
import { useServerTime } from "../api/clock.ts"
import { Loading } from "../ui/loading.tsx"
import { Select } from "../ui/select.tsx"
import { clockTime } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import { Lanes } from "./lanes.tsx"
import { Calls } from "./now.tsx"
import { activityQuery, callsOf, type Filter } from "./queries.ts"
import look from "./activity.module.css"

const hour = 3_600_000

/** Shows the activity of all agents now and in the last hour, as lanes by agent. */
export function ActivityPage() {
  const { govern } = useWords()
  const text = govern.activity
  const navigate = useNavigate()
  const { agent, tool, verdict } = useSearch({ strict: false })
  const given = { agent, tool, verdict }
  const filter: Filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const query = useQuery(activityQuery(filter))
  const { data: all } = useQuery(activityQuery({}))
  // While it is paused, what was shown stays.
  const [paused, setPaused] = useState<ActivityJson>()
  const shown = paused ?? query.data
  const live = useServerTime(1000)
  const now = paused?.now ?? live
  const lanes = all?.lanes ?? []
  const tools = new Set(lanes.flatMap(({ spans }) => spans.map((span) => span.tool)))
  const choices = {
    agent: lanes.map(({ agentId }) => [agentId, agentId] as const),
    tool: [...tools].toSorted().map((name) => [name, name] as const),
    verdict: Object.entries(text.verdicts),
  }
  const choose = (name: keyof Filter, value: string) => {
    const { [name]: _before, ...rest } = filter
    void navigate({ to: "/activity", search: value === "" ? rest : { ...rest, [name]: value }, replace: true })
  }
  return (
    <main id="main" className={look["page"]}>
      <div className="head">
        <h1>{text.title}</h1>
        <span className="dim wide-only">{text.hour}</span>
        <span className="grow" />
        {(["agent", "tool", "verdict"] as const).map((name) => (
          <label key={name} className="picker">
            <Select
              className="select-s"
              aria-label={text[name]}
              value={filter[name] ?? ""}
              onChange={(event) => choose(name, event.target.value)}
            >
              <option value="">{text.any[name]}</option>
              {choices[name].map(([value, title]) => (
                <option key={value} value={value}>
                  {title}
                </option>
              ))}
            </Select>
          </label>
        ))}
        <button
          type="button"
          className="btn btn-s"
          aria-pressed={paused !== undefined}
          onClick={() => setPaused(paused === undefined ? query.data : undefined)}
        >
          {paused === undefined ? text.pause : text.live}
        </button>
      </div>
      <div className={`scroll ${look["body"]}`} tabIndex={0} role="group" aria-label={text.title}>
        {shown === undefined && <Loading of={query} lines={4} />}
        {shown?.lanes.length === 0 && (
          <div>
            <b>{text.none}</b>
            <p className="soft">{text.noneMore}</p>
          </div>
        )}
        {shown !== undefined && shown.lanes.length > 0 && (
          <>
            <Lanes lanes={shown.lanes} since={now - hour} now={now} />
            {shown.cut !== undefined && <p className="hint">{text.cut(clockTime(shown.cut))}</p>}
            <Calls calls={callsOf(shown.lanes).slice(0, 200)} />
          </>
        )}
      </div>
    </main>
  )
}
