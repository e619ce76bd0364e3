import { Modal } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import type { Refused, Suggestion } from "../../../src/interfaces/http/routes/schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { serverNow } from "../api/clock.ts"
import { digestQuery, refusedQuery, suggestionsQuery, useMe } from "../api/queries.ts"
import { CopyText } from "../ui/copy-text.tsx"
import { Icon } from "../ui/icon.tsx"
import { Loading } from "../ui/loading.tsx"
import { Marked } from "../ui/marked.tsx"
import { agoText, spanText } from "../words/time-text.ts"
import { useSay, useWords } from "../words/words.tsx"
import { forgetLastVisit, useLastVisit } from "./last-visit.ts"
import { RuleDialog } from "./rule-dialog.tsx"
import look from "./inbox.module.css"

/** Shows the events that nobody watched, from the record. */
export function DigestLine() {
  const words = useWords()
  const since = useLastVisit()
  const query = useQuery({ ...digestQuery(since ?? 0), enabled: since !== undefined })
  const { data } = query
  if (since === undefined) return null
  if (data === undefined) return <Loading of={query} lines={1} />
  const { ran, waited, refused, expired } = data
  if (ran + waited + refused + expired === 0) return null
  return (
    <div className={look["digest"]} data-digest>
      <Icon name="clock" />
      <p className="grow">
        <Marked text={words.inbox.digest(spanText(data.now - since, words), ran, waited, refused, expired)} />
      </p>
      <button type="button" className="ib" aria-label={words.inbox.closeDigest} onClick={forgetLastVisit}>
        <Icon name="x" small />
      </button>
    </div>
  )
}

/** "12 yes, never no: make it a rule?" */
export function Suggestions() {
  const { scopes } = useMe()
  const mayManage = scopes.includes("manage")
  const query = useQuery({ ...suggestionsQuery, enabled: mayManage })
  const [hidden, setHidden] = useState<readonly string[]>(
    () => JSON.parse(sessionStorage.getItem("qm-not-now") ?? "[]") as string[],
  )
  const hide = (key: string) => {
    const next = [...hidden, key]
    sessionStorage.setItem("qm-not-now", JSON.stringify(next))
    setHidden(next)
  }
  if (!mayManage) return null
  if (query.data === undefined) return <Loading of={query} lines={1} />
  return query.data
    .map((suggestion) => [JSON.stringify(suggestion.rule), suggestion] as const)
    .filter(([key]) => !hidden.includes(key))
    .slice(0, 2)
    .map(([key, suggestion]) => <OneSuggestion key={key} suggestion={suggestion} hide={() => hide(key)} />)
}

function OneSuggestion({ suggestion, hide }: { suggestion: Suggestion; hide: () => void }) {
  const words = useWords()
  const [open, setOpen] = useState(false)
  const { rule, approvals, refusedCompared, examples } = suggestion
  return (
    <div className={look["suggest"]} data-suggestion>
      <div className={look["suggest-t"]}>
        <Icon name="bulb" />
        <p>
          <Marked text={words.inbox.suggestion(approvals, rule.allow, rule.touching.join(", "), rule.agent)} />
        </p>
      </div>
      <p className="dim">{words.inbox.suggestionMore(approvals, refusedCompared)}</p>
      <div className={look["suggest-b"]}>
        <button type="button" className="btn btn-s" onClick={() => setOpen(true)}>
          {words.inbox.makeRule}
        </button>
        <button type="button" className="btn btn-s btn-q" onClick={hide}>
          {words.inbox.notNow}
        </button>
      </div>
      <RuleDialog opened={open} close={() => setOpen(false)} rule={rule} examples={examples} added={hide} />
    </div>
  )
}

const startOfDay = () => new Date(serverNow()).setHours(0, 0, 0, 0)

/** Calls that were refused today: why, and what would change it. It asks for nothing. */
export function RefusedLane() {
  const words = useWords()
  const say = useSay()
  const { scopes } = useMe()
  const [since] = useState(startOfDay)
  const query = useQuery(refusedQuery(since))
  const { data } = query
  const [open, setOpen] = useState<Refused>()
  const [drafted, setDrafted] = useState<Refused>()
  if (data === undefined) return <Loading of={query} lines={2} />
  if (data.items.length === 0) return null
  return (
    <div className={look["refused"]} data-refused>
      <div className={look["band"]}>
        <h2>{words.inbox.refusedToday}</h2>
        <span className="num">{data.total}</span>
      </div>
      <ul>
        {data.items.map((item) => (
          <li key={item.callId}>
            <button type="button" className={look["row"]} onClick={() => setOpen(item)}>
              <Icon name="ban" />
              <span className={`${look["row-t"]} grow`}>
                <b className="mono">{item.tool}</b>
                <span className={`${look["row-w"]} mono cut`}>{printable(item.summary)}</span>
              </span>
              <span className={look["row-a"]}>{item.agentId}</span>
              <span className={`${look["row-w"]} cut`}>{item.reasons.map(say).join(" ")}</span>
              <span className={look["row-go"]}>
                {item.draft === undefined ? words.inbox.why : words.inbox.draftRule}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <Modal
        opened={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open && words.inbox.refusedBy(open.tool, open.agentId)}
        closeButtonProps={{ "aria-label": words.frame.close }}
        centered
        size="lg"
      >
        {open !== undefined && (
          <div className="dialog">
            <p className="dim">
              <code>{printable(open.summary)}</code> · {agoText(serverNow() - open.at, words)} ·{" "}
              <code>{open.code}</code>
            </p>
            <div className="strip strip-deny">
              <Icon name="ban" />
              <p>{open.reasons.map(say).join(" ")}</p>
            </div>
            <h3 className="h3">{words.inbox.whatWouldChange}</h3>
            {open.change.length === 0 && open.draft === undefined && (
              <p className="soft">{words.inbox.nothingWouldChange}</p>
            )}
            {open.change.map((line) => (
              <CopyText key={line} text={line} />
            ))}
            <div className="dialog-f">
              <button type="button" className="btn" onClick={() => setOpen(undefined)}>
                {words.inbox.leaveIt}
              </button>
              {open.draft !== undefined && scopes.includes("manage") && (
                <button
                  type="button"
                  className="btn"
                  onClick={() => {
                    setDrafted(open)
                    setOpen(undefined)
                  }}
                >
                  {words.inbox.draftRule}
                </button>
              )}
            </div>
          </div>
        )}
      </Modal>
      {drafted?.draft !== undefined && (
        <RuleDialog
          opened
          close={() => setDrafted(undefined)}
          rule={drafted.draft}
          examples={[drafted.summary]}
          added={() => setDrafted(undefined)}
        />
      )}
    </div>
  )
}
