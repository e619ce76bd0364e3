import { Link } from "@tanstack/react-router"
import type { AuditEntryJson } from "../../../src/interfaces/http/routes/audit-schemas.ts"
import { Step } from "../steps/step-list.tsx"
import { clockTime } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import look from "./tools.module.css"

/** Shows the record of a call, with the way to its page. */
export function RecordStep({ callId, entries }: { callId: string; entries: readonly AuditEntryJson[] | undefined }) {
  const words = useWords()
  return (
    <Step name="record" tick="record">
      {entries === undefined ? (
        <p>{words.tools.notRecordedYet}</p>
      ) : (
        <>
          <p>
            {words.tools.entries(entries.length)}{" "}
            <Link to="/audit/$callId" params={{ callId }}>
              {words.tools.openRecord}
            </Link>
          </p>
          <ul className={look["ents"]}>
            {entries.map((entry, at) => (
              <li key={`${at} ${entry.kind}`}>
                <code>{entry.kind}</code>
                <span className="dim num">{clockTime(entry.at, true)}</span>
                <span className="dim cut">{entry.by}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Step>
  )
}
