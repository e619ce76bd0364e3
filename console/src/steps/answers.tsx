import type { AuditEntryJson } from "../../../src/interfaces/http/routes/audit-schemas.ts"
import { clockTime } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"

interface Props {
  readonly entries: readonly Pick<AuditEntryJson, "kind" | "at" | "by" | "text">[] | undefined
  readonly kinds: readonly AuditEntryJson["kind"][]
}

/** Shows the recorded answers: who, what and when. */
export function Answers({ entries = [], kinds }: Props) {
  const words = useWords()
  return entries
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ at, by = "", kind, text = "" }) => (
      <p key={`${at} ${by} ${text}`}>
        <b>{by}</b>
        {words.audit.colon}
        {text === "" ? words.audit.entry[kind] : <Said text={text} />} <time className="dim num">{clockTime(at)}</time>
      </p>
    ))
}

/** The few sentences that the server writes itself are translated; reasons of people stay as they are. */
function Said({ text }: { text: string }) {
  const words = useWords()
  const revision = /^agreed to revision (\d+)$/.exec(text)?.[1]
  if (revision !== undefined) return words.audit.agreedTo(Number(revision))
  const known: Readonly<Record<string, string>> = words.audit.said
  return known[text] ?? text
}
