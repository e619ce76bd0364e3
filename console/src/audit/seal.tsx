import { useQuery } from "@tanstack/react-query"
import { useServerTime, serverNow } from "../api/clock.ts"
import { Icon } from "../ui/icon.tsx"
import { Marked } from "../ui/marked.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { agoText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import { verifyQuery } from "./queries.ts"
import look from "./audit.module.css"

/** Shows the result of the last verification. */
export function Seal() {
  const words = useWords()
  const { data, dataUpdatedAt, error } = useQuery(verifyQuery)
  const now = useServerTime(60_000)
  const problemText = useProblemText()
  return (
    <span role="status" className={look["seal-w"]}>
      {data?.ok === true && (
        <span className={look["seal"]}>
          <Icon name="shield-check" small />
          <b>{words.audit.verified}</b>
          <span className="wide-only">
            {words.audit.verifiedMore(data.records, data.chains)},{" "}
            {agoText(Math.max(0, now - (dataUpdatedAt + serverNow() - Date.now())), words)}
          </span>
        </span>
      )}
      {data?.ok === false && (
        <span className={`${look["seal"]} ${look["seal-bad"]}`}>
          <Icon name="alert-triangle" small />
          <b>{words.audit.broken}</b>
        </span>
      )}
      {error !== null && <span className={`${look["seal"]} ${look["seal-bad"]}`}>{problemText(error)}</span>}
    </span>
  )
}

export function VerifyButton() {
  const words = useWords()
  const { isFetching, refetch } = useQuery(verifyQuery)
  return (
    <button type="button" className="btn btn-s verify" disabled={isFetching} onClick={() => void refetch()}>
      {isFetching ? words.audit.verifying : words.audit.verify}
    </button>
  )
}

/** A log that somebody changed is said loudly, above everything in it. */
export function BrokenLog() {
  const words = useWords()
  const { data } = useQuery(verifyQuery)
  if (data?.ok !== false) return null
  return (
    <div className="strip strip-deny problem" role="alert">
      <Icon name="alert-triangle" />
      <p className="grow">
        <b>{words.audit.broken}.</b> {data.problem} <Marked text={words.audit.brokenAt(data.record)} />{" "}
        <Marked text={words.audit.brokenMore} />
      </p>
    </div>
  )
}
