import { useQuery } from "@tanstack/react-query"
import { useCallback, useState } from "react"
import { chunkText } from "../api/chunk-text.ts"
import { useStreamEvent } from "../api/live.ts"
import type { StreamEvent } from "../api/stream.ts"
import { readRecord, recordedValue } from "../audit/call-facts.ts"
import { recordQuery } from "../tools/queries.ts"
import { ExitCode } from "../ui/value-view.tsx"
import { useWords } from "../words/words.tsx"

const most = 200_000

export interface Printed {
  readonly text: string
  readonly ended: boolean
}

/** Collects what a call prints while its card is shown: the first lines may come before the answer is confirmed. */
export function useOutput(callId: string): Printed {
  const [printed, setPrinted] = useState<Printed>({ text: "", ended: false })
  useStreamEvent(
    useCallback(
      ({ name, data }: StreamEvent) => {
        if (data["callId"] !== callId) return
        if (name === "output")
          setPrinted((before) => ({ ...before, text: (before.text + chunkText(data["chunk"])).slice(-most) }))
        if ((name === "call" && data["state"] === "ended") || name === "audit")
          setPrinted((before) => ({ ...before, ended: true }))
      },
      [callId],
    ),
  )
  return printed
}

/** Shows the output of a call approved here while it runs. `begins` is false when nobody waits for it. */
export function Output({ callId, printed, begins }: { callId: string; printed: Printed; begins: boolean }) {
  const words = useWords()
  const { text, ended } = printed
  if (!begins && text === "" && !ended) return null
  return (
    <section className="output" data-ended={ended || undefined}>
      <h3 className="h3">{words.card.output}</h3>
      {text === "" ? (
        !ended && <p className="dim">{words.card.outputNone}</p>
      ) : (
        <pre className="plain" tabIndex={0} role="log" aria-label={words.card.output}>
          {text}
        </pre>
      )}
      {ended && <Ended callId={callId} />}
    </section>
  )
}

/** That it has ended, and a command's exit code. */
function Ended({ callId }: { callId: string }) {
  const words = useWords()
  const { data } = useQuery(recordQuery(callId))
  const result = readRecord(data ?? [])?.result
  return (
    <p className="dim">
      {words.card.ended} {result !== undefined && <ExitCode value={recordedValue(result)} />}
    </p>
  )
}
