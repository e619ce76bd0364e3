import { printable } from "../../../src/lib/printable.ts"
import { Link } from "@tanstack/react-router"
import type { AuditEntryJson } from "../../../src/interfaces/http/routes/audit-schemas.ts"
import { Said } from "../ui/said.tsx"
import { ValueView } from "../ui/value-view.tsx"
import { clockTime } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import { recordedValue, type CallRecord } from "./call-facts.ts"
import look from "./audit.module.css"

/** Beside the steps: the entries, the input, and what else was recorded. */
export function CallSide({ record, entries }: { record: CallRecord; entries: readonly AuditEntryJson[] }) {
  const words = useWords()
  const { start, end, input, isMasked } = record
  const call = { ...end, ...start }
  const facts: readonly (readonly [name: string, value: string | undefined, isSaid?: true])[] = [
    [words.audit.role, call.role],
    [words.audit.session, call.sessionId, true],
    [words.audit.task, call.taskId, true],
    [words.audit.person, call.userId, true],
    [words.audit.policy, call.policy],
  ]
  return (
    <aside className={`scroll ${look["call-s"]}`}>
      <section>
        <h3>{words.audit.record}</h3>
        <ol className={look["ent"]}>
          {entries.map((entry, at) => (
            <li key={`${at} ${entry.at}`}>
              <b className="mono">{entry.kind}</b>
              <span className="num dim">{clockTime(entry.at, true)}</span>
              <span className={look["ent-w"]}>
                {entry.by ?? (typeof entry["status"] === "string" ? entry["status"] : "")}
              </span>
            </li>
          ))}
        </ol>
        <p className="hint">{words.audit.sealed}</p>
      </section>
      {call.intent !== undefined && (
        <section>
          <h3>{words.audit.intent}</h3>
          <p className={look["said-q"]}>
            <q>{printable(call.intent)}</q> <span className="tag tag-said">{words.card.notVerified}</span>
          </p>
        </section>
      )}
      <section>
        {input === undefined ? (
          <>
            <h3>{words.audit.input}</h3>
            <p className="dim">{words.audit.noInput}</p>
          </>
        ) : (
          <ValueView value={recordedValue(input)} label={words.audit.input} jsonOnly />
        )}
        {isMasked && <p className="hint">{words.audit.masked}</p>}
      </section>
      <section>
        <h3>{words.audit.facts}</h3>
        <dl className="kv kv-w">
          {facts.map(
            ([name, value, isSaid]) =>
              value !== undefined &&
              value !== "" && (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd className="mono">{isSaid ? <Said text={value}>{(text) => text}</Said> : value}</dd>
                </div>
              ),
          )}
          {call.parentCallId !== undefined && call.parentCallId !== "" && (
            <div>
              <dt>{words.audit.parent}</dt>
              <dd>
                <Link className="mono" to="/audit/$callId" params={{ callId: call.parentCallId }}>
                  {call.parentCallId.slice(0, 13)}
                </Link>
              </dd>
            </div>
          )}
        </dl>
      </section>
    </aside>
  )
}
