import { printable } from "../../../src/lib/printable.ts"
import { Link } from "@tanstack/react-router"
import type { AuditRowJson } from "../../../src/interfaces/http/routes/audit-schemas.ts"
import { endingText } from "../steps/ending-text.ts"
import { Rail } from "../steps/rail.tsx"
import { endOf, ticksOf, type CallFacts } from "../steps/ticks.ts"
import { clockTime, dayText, momentText, tookText } from "../words/time-text.ts"
import { useLanguage, useWords } from "../words/words.tsx"
import look from "./audit.module.css"

/** Ended calls. Each is a link to its page. */
export function Rows({ rows }: { rows: readonly AuditRowJson[] }) {
  const words = useWords()
  return (
    <table className={`tbl ${look["tbl-a"]}`}>
      <caption className="vh">{words.audit.table}</caption>
      <thead>
        <tr>
          <th>{words.audit.time}</th>
          <th>{words.audit.agent}</th>
          <th>{words.audit.tool}</th>
          <th>{words.audit.what}</th>
          <th>{words.audit.stepsLabel}</th>
          <th>{words.audit.ending}</th>
          <th className="r">{words.audit.waited}</th>
          <th className="r">{words.audit.took}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.callId} row={row} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ row }: { row: AuditRowJson }) {
  const words = useWords()
  const { language } = useLanguage()
  const { callId, at, agentId, tool, summary, code, ran, asked, held, waitedMs, durationMs } = row
  const facts: CallFacts = { state: "ended", code, asked, held, ran }
  return (
    <tr>
      <td className="num soft">
        <time dateTime={new Date(at).toISOString()} title={momentText(at, language)}>
          {dayText(at, language)}
          {clockTime(at)}
        </time>
      </td>
      <td>{agentId}</td>
      <td className="mono">
        <Link to="/audit/$callId" params={{ callId }}>
          {tool}
        </Link>
      </td>
      <td className="mono soft cutcell" title={printable(summary)}>
        {printable(summary)}
      </td>
      <td>
        <Rail ticks={ticksOf(facts)} label={endingText(facts, words)} />
      </td>
      <td>
        <Ending row={row} facts={facts} />
      </td>
      <td className="r num soft">{waitedMs === undefined ? "" : tookText(waitedMs, words)}</td>
      <td className="r num soft">{ran ? tookText(durationMs, words) : ""}</td>
    </tr>
  )
}

/** A success in words, anything else by its code, in the colour of its tick. */
function Ending({ row: { code, by }, facts }: { row: AuditRowJson; facts: CallFacts }) {
  const words = useWords()
  if (code === undefined)
    return <span className="soft">{by === undefined ? words.audit.ran : words.audit.yesBy(by)}</span>
  const how = endOf(facts)?.[1]
  return <span className={how === "refused" ? "tag tag-deny" : how === "no" ? "tag tag-ask" : "tag"}>{code}</span>
}
