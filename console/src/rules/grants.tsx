import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { printable } from "../../../src/lib/printable.ts"
import { useServerTime } from "../api/clock.ts"
import { queries } from "../api/live.ts"
import { Loading } from "../ui/loading.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { spanText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import { verdictClass } from "./rule-text.ts"
import { grantsQuery, revoke } from "./queries.ts"
import look from "./rules.module.css"

/** Answers that people chose to have remembered, each with what it means and a way to take it back. */
export function Grants({ agentId }: { agentId?: string }) {
  const words = useWords()
  const text = words.govern.rules
  const problem = useProblemText()
  const now = useServerTime(15_000)
  const query = useQuery(grantsQuery(agentId))
  const [failed, setFailed] = useState<unknown>()
  const { data } = query
  const end = (id: string) =>
    revoke(id).then(
      () => void queries.invalidateQueries({ queryKey: ["rules"] }),
      (error: unknown) => setFailed(error),
    )
  return (
    <div className={agentId === undefined ? `scroll ${look["body"]}` : look["part"]}>
      {data === undefined && <Loading of={query} lines={2} />}
      {data?.length === 0 && agentId === undefined && (
        <div>
          <b>{text.grantsNone}</b>
          <p className="soft">{text.grantsNoneMore}</p>
        </div>
      )}
      {data?.length === 0 && agentId !== undefined && <p className="hint">{words.govern.org.noneRemembered}</p>}
      {failed !== undefined && (
        <p className="hint hint-wrong" role="alert">
          {problem(failed)}
        </p>
      )}
      <ul className={look["grants"]}>
        {(data ?? []).map((grant) => (
          <li key={grant.id} data-grant={grant.id}>
            <span className={verdictClass(grant.verdict)}>{text.verdict[grant.verdict]}</span>
            <span className="grow">
              {agentId === undefined && <b>{grant.agentId} </b>}
              <code>{printable(grant.tool)}</code> {printable(grant.words)}
              <small>
                {grant.expiresAt === null
                  ? words.govern.org.always
                  : words.govern.org.until(spanText(Math.max(0, grant.expiresAt - now), words))}
                {words.card.comma}
                {words.govern.org.by(printable(grant.by))}
              </small>
            </span>
            <button type="button" className="btn btn-s btn-q" onClick={() => void end(grant.id)}>
              {words.govern.org.revoke}
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
