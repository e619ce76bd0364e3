import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { CallRowJson } from "../../../src/interfaces/http/routes/chain-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { useServerTime } from "../api/clock.ts"
import { useOutput } from "../card/output.tsx"
import { readRecord } from "../audit/call-facts.ts"
import { Answers } from "../steps/answers.tsx"
import { Checks } from "../steps/checks.tsx"
import { endingText } from "../steps/ending-text.ts"
import { Rail } from "../steps/rail.tsx"
import { ticksOf } from "../steps/ticks.ts"
import { recordQuery } from "../tools/queries.ts"
import { Icon } from "../ui/icon.tsx"
import { Block, JsonBlock } from "../ui/value-view.tsx"
import { clockText, tookText } from "../words/time-text.ts"
import { useSay, useWords } from "../words/words.tsx"
import { imageQuery } from "./queries.ts"
import { InlineCard } from "./inline-card.tsx"
import look from "./chat.module.css"

/** A tool call in a conversation: the seven ticks, what it touches, how long it took; opened, its input and result. */
export function CallRow({ call, hasKeys }: { call: CallRowJson; hasKeys: boolean }) {
  const words = useWords()
  const say = useSay()
  const [open, setOpen] = useState<boolean>()
  // A card that was answered stays where it was, as one line.
  const [hadCard, setHadCard] = useState(call.card)
  if (call.card !== undefined && call.card !== hadCard) setHadCard(call.card)
  const { text: printed } = useOutput(call.callId ?? "")
  const isRunning = call.state === "running"
  const isOpen = open ?? (isRunning && printed !== "")
  const ending = endingText(call, words)
  return (
    <li className={look["call"]} data-call={call.callId} data-state={call.state}>
      <button type="button" className={look["row"]} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Rail ticks={ticksOf(call)} label={ending} />
        <b className="mono">{call.tool}</b>
        <code className="cut grow" title={say(call.title)}>
          {printable(call.summary === "" ? say(call.title) : call.summary)}
        </code>
        <span className={look["how"]}>{howText(call, ending, words)}</span>
        <Took call={call} />
        <Icon name={isOpen ? "chevron-down" : "chevron-right"} small />
      </button>
      {isOpen && <Opened call={call} printed={printed} />}
      {call.image !== undefined && <TurnImage href={call.image.href} mimeType={call.image.mimeType} />}
      {hadCard !== undefined && (
        <div className={look["cardPlace"]}>
          <InlineCard key={hadCard} callId={hadCard} hasKeys={hasKeys} />
        </div>
      )}
    </li>
  )
}

function howText({ state, code, by, asked }: CallRowJson, ending: string, words: ReturnType<typeof useWords>): string {
  if (state !== "ended") return ending
  if (code !== undefined) return ending
  if (by !== undefined && asked) return words.chat.yesBy(printable(by))
  return ""
}

/** Shows its duration; while it runs, its duration by now. */
function Took({ call: { state, startedAt, durationMs } }: { call: CallRowJson }) {
  const words = useWords()
  const runs = state === "running" && startedAt !== undefined
  const now = useServerTime(runs ? 1000 : 3_600_000)
  return (
    <span className={`${look["took"]} num`}>
      {runs ? clockText(now - startedAt) : durationMs === undefined ? "" : tookText(durationMs, words)}
    </span>
  )
}

function Opened({ call, printed }: { call: CallRowJson; printed: string }) {
  const words = useWords()
  return (
    <div className={look["opened"]}>
      {call.intent !== undefined && (
        <p className={look["intent"]}>
          <b>{words.card.says}</b> <span className="tag tag-said">{words.card.notVerified}</span> “
          {printable(call.intent.slice(0, 200))}”
        </p>
      )}
      <h4 className="h3">{words.card.input}</h4>
      <Json text={call.input} label={words.card.input} />
      {printed !== "" && (
        <>
          <h4 className="h3">{words.card.output}</h4>
          <Block text={printed} label={words.card.output} />
        </>
      )}
      {call.result !== undefined && (
        <>
          <h4 className="h3">{words.chat.told}</h4>
          <Json text={call.result} label={words.chat.told} />
        </>
      )}
      {call.callId !== undefined && <Reasons callId={call.callId} state={call.state} />}
      {call.callId !== undefined && (
        <p>
          <Link to="/audit/$callId" params={{ callId: call.callId }}>
            {words.chat.story}
          </Link>
        </p>
      )}
    </div>
  )
}

/** Why the call ran, waits or was refused, and who answered, as recorded. Read again when it has gone on. */
function Reasons({ callId, state }: { callId: string; state: CallRowJson["state"] }) {
  const words = useWords()
  const query = recordQuery(callId)
  const { data } = useQuery({ ...query, queryKey: [...query.queryKey, state] })
  const record = data && readRecord(data)
  if (record === undefined) return null
  const verdict = record.facts.asked ? "ask" : record.facts.ran === false ? "deny" : "allow"
  return (
    <>
      <h4 className="h3">{words.chat.why}</h4>
      {record.reasons.length > 0 ? (
        <Checks checks={record.reasons.map((reason) => ({ ...reason, verdict }))} />
      ) : (
        !record.facts.asked && record.facts.ran !== false && <p>{words.steps.nothingObjected}</p>
      )}
      <Answers entries={record.steps} kinds={["answered", "released", "withheld"]} />
    </>
  )
}

/** JSON where the text is JSON; a text that was cut is shown as it is. */
function Json({ text, label }: { text: string; label: string }) {
  try {
    return <JsonBlock value={JSON.parse(text) as unknown} label={label} />
  } catch {
    return <Block text={text} label={label} />
  }
}

/** An image of a turn. It is read with the session's secret and shown from memory. */
export function TurnImage({ href, mimeType }: { href: string; mimeType: string }) {
  const words = useWords()
  const { data } = useQuery(imageQuery(href, mimeType))
  return data === undefined ? null : <img className={look["image"]} src={data} alt={words.steps.theImage} />
}
