import { useCallback, useState } from "react"
import { useStreamEvent } from "../api/live.ts"
import type { StreamEvent } from "../api/stream.ts"
import { useWords } from "../words/words.tsx"

const most = 200_000

/** What a call that was approved here prints while it runs. */
export function Output({ callId }: { callId: string }) {
  const words = useWords()
  const [text, setText] = useState("")
  const [ended, setEnded] = useState(false)
  useStreamEvent(
    useCallback(
      ({ name, data }: StreamEvent) => {
        if (data["callId"] !== callId) return
        if (name === "output") setText((before) => (before + String(data["chunk"] ?? "")).slice(-most))
        if (name === "call" && /^(ended|done|finished|success|failed)/.test(String(data["state"]))) setEnded(true)
      },
      [callId],
    ),
  )
  return (
    <section className="output">
      <h3 className="h3">{words.card.output}</h3>
      {text === "" ? (
        <p className="dim">{ended ? words.card.ended : words.card.outputNone}</p>
      ) : (
        <pre className="plain" tabIndex={0} role="log" aria-label={words.card.output}>
          {text}
        </pre>
      )}
      {ended && text !== "" && <p className="dim">{words.card.ended}</p>}
    </section>
  )
}
