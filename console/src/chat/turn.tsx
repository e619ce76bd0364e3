import { memo, useState, type ReactNode } from "react"
import { printable } from "../../../src/lib/printable.ts"
import type { ShownTurnJson } from "../../../src/interfaces/http/routes/chain-schemas.ts"
import { Icon } from "../ui/icon.tsx"
import { initials } from "../ui/initials.ts"
import { clockTime, dayText } from "../words/time-text.ts"
import { useLanguage, useWords } from "../words/words.tsx"
import { CallRow, TurnImage } from "./call-row.tsx"
import { Markdown } from "./markdown.tsx"
import { wholeTurn } from "./queries.ts"
import type { Written } from "./written.ts"
import look from "./chat.module.css"

interface Props {
  readonly chatId: string
  readonly turn: ShownTurnJson
  /** True if the name of the speaker stands above it. */
  readonly speaks: boolean
  readonly agent: { readonly id: string; readonly role: string | undefined }
  /** The id of the call whose card the keys answer. */
  readonly keys: string | undefined
  /** Edits the message and sends it again. Undefined where that is not possible. */
  readonly edit: ((index: number, text: string) => void) | undefined
}

export const Turn = memo(function Turn({ chatId, turn: given, speaks, agent, keys, edit }: Props) {
  const words = useWords()
  const [whole, setWhole] = useState<ShownTurnJson>()
  const turn = whole?.index === given.index && given.kind === whole.kind ? { ...given, ...whole } : given
  if (turn.kind === "note") return <Note turn={turn} />
  const more = "cut" in given && given.cut !== undefined && whole === undefined && (
    <button type="button" className="linklike" onClick={() => void wholeTurn(chatId, turn.index).then(setWhole)}>
      {words.chat.showAll(given.cut)}
    </button>
  )
  if (turn.kind === "message")
    return (
      <article className={look["turn"]} data-turn={turn.index} data-from={turn.from}>
        {speaks && (
          <Speaker
            name={turn.from === "hint" ? words.chat.hint : printable(turn.name)}
            at={turn.at}
            isAgent={turn.from !== "person"}
          />
        )}
        <div className={look["said"]}>
          <p className={look["words"]}>{printable(turn.text)}</p>
          {more}
          {turn.images.map(({ href, mimeType }) => (
            <TurnImage key={href} href={href} mimeType={mimeType} />
          ))}
          {edit !== undefined && turn.begins && turn.from === "person" && (
            <button
              type="button"
              className={`ib ib-s ${look["edit"]}`}
              aria-label={words.chat.edit}
              title={words.chat.edit}
              onClick={() => edit(turn.index, turn.text)}
            >
              <Icon name="pencil" small />
            </button>
          )}
        </div>
      </article>
    )
  return (
    <article className={look["turn"]} data-turn={turn.index} data-from="agent">
      {speaks && <Speaker name={agent.id} more={agent.role} isAgent />}
      <div className={look["said"]}>
        {turn.interrupted && <span className={`tag tag-ask ${look["interrupted"]}`}>{words.chat.interrupted}</span>}
        <Thought text={turn.reasoning} />
        {turn.text !== "" && <Markdown text={turn.text} />}
        {more}
        {turn.finishReason === "length" && <p className="hint">{words.chat.cutOff}</p>}
        {turn.calls.length > 0 && (
          <ul className={look["calls"]}>
            {turn.calls.map((call) => (
              <CallRow key={call.callId ?? call.place} call={call} hasKeys={keys !== undefined && call.card === keys} />
            ))}
          </ul>
        )}
      </div>
    </article>
  )
})

/** The answer that is being written. It is not read aloud piece by piece: its finished turn is. */
export function WrittenTurn({ written, agent, speaks }: { written: Written; speaks: boolean } & Pick<Props, "agent">) {
  const words = useWords()
  return (
    <article className={look["turn"]} data-turn={written.turn} data-writing data-attempt={written.attempt} aria-busy>
      {speaks && <Speaker name={agent.id} more={agent.role} isAgent />}
      <div className={look["said"]}>
        {written.interrupted && <span className={`tag tag-ask ${look["interrupted"]}`}>{words.chat.interrupted}</span>}
        {written.reasoning !== "" && (
          <details className={look["thought"]} open={written.text === ""}>
            <summary>{words.chat.thinks}</summary>
            <p>{printable(written.reasoning.slice(-4000))}</p>
          </details>
        )}
        <Markdown text={written.text} isWritten />
      </div>
    </article>
  )
}

interface SpeakerProps {
  readonly name: string
  readonly at?: number
  readonly more?: string
  readonly isAgent?: boolean
}

export function Speaker({ name, at, more, isAgent = false }: SpeakerProps) {
  const { language } = useLanguage()
  return (
    <h2 className={look["speaker"]}>
      {isAgent ? (
        <span className="av av-a" aria-hidden="true">
          <Icon name="robot" small />
        </span>
      ) : (
        <span className="av" aria-hidden="true">
          {initials(name)}
        </span>
      )}
      {name}
      {more !== undefined && <span className="dim">{more}</span>}
      {at !== undefined && (
        <time className="dim num">
          {dayText(at, language)}
          {clockTime(at).slice(0, 5)}
        </time>
      )}
    </h2>
  )
}

function Thought({ text }: { text: string }): ReactNode {
  const words = useWords()
  if (text === "") return null
  return (
    <details className={look["thought"]}>
      <summary>{words.chat.thought}</summary>
      <p>{printable(text)}</p>
    </details>
  )
}

function Note({ turn }: { turn: Extract<ShownTurnJson, { kind: "note" }> }) {
  const words = useWords()
  const { note, by = "", name = by, text, index } = turn
  if (note === "completed" && text === "") return null
  const sentence = note === "stopped" ? words.chat.note.stopped(printable(name)) : words.chat.note[note]
  return (
    <p className={look["note"]} data-turn={index} data-note={note} role={note === "failed" ? "alert" : undefined}>
      {note === "failed" && <Icon name="alert-triangle" small />}
      <span>
        {sentence} {text !== "" && <span className="soft">{printable(text)}</span>}
      </span>
    </p>
  )
}
