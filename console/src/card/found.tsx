import { useState } from "react"
import { useMediaQuery } from "@mantine/hooks"
import type { Card, Touch } from "../../../src/approvals/card/schema.ts"
import { printable } from "../../../src/lib/printable.ts"
import { Gate, Icon } from "../ui/icon.tsx"
import { bytesText } from "../words/time-text.ts"
import { useSay, useWords } from "../words/words.tsx"
import { PreviewBody, usePreviewNote } from "./preview.tsx"

/** "Quartermaster found": the preview, why somebody is asked and what is touched. */
export function Found({ card, aside, narrow }: { card: Card; aside: boolean; narrow: boolean }) {
  const words = useWords()
  const wide = useMediaQuery("(min-width: 48em)", true)
  const [columns, setColumns] = useState<1 | 2>(narrow ? 1 : 2)
  const note = usePreviewNote(card)
  const isDiff = card.preview?.kind === "diff"
  return (
    <section className="found" data-found>
      <h3 className="block-head">
        <Gate size="s" />
        {words.card.found}
        <small className="grow cut">{note}</small>
        {isDiff && wide && (
          <span className="seg" role="group" aria-label={words.card.view}>
            <button type="button" aria-pressed={columns === 2} onClick={() => setColumns(2)}>
              {words.card.sideBySide}
            </button>
            <button type="button" aria-pressed={columns === 1} onClick={() => setColumns(1)}>
              {words.card.oneColumn}
            </button>
          </span>
        )}
      </h3>
      {card.preview !== undefined && <PreviewBody preview={card.preview} columns={wide ? columns : 1} />}
      {!aside && (
        <div className="two">
          <div>
            <Why card={card} />
          </div>
          <div>
            <Touches card={card} />
          </div>
        </div>
      )}
    </section>
  )
}

export function Why({ card }: { card: Card }) {
  const words = useWords()
  const say = useSay()
  return (
    <>
      <h4 className="h3">{card.kind === "result" ? words.card.whyHeld : words.card.why}</h4>
      <ul className="why">
        {card.reasons.map((reason) => (
          <li key={`${reason.check} ${reason.message.text}`}>
            <Icon name="hand-stop" />
            <span>
              {say(reason.message)}
              <small>
                {reason.source}
                {reason.binding && ` · ${words.card.everyTime}`}
              </small>
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

const order: readonly Touch["kind"][] = ["delete", "write", "read", "command", "host", "database"]

export function Touches({ card: { touches, proved } }: { card: Card }) {
  const { card: words, size: sizes } = useWords()
  /** Returns the present size at a path that is written or deleted. */
  const size = ({ files = 0, bytes }: Touch) =>
    [...(files > 1 ? [sizes.files(files)] : []), ...(bytes === undefined ? [] : [bytesText(bytes)])].join(words.comma)
  return (
    <>
      <h4 className="h3">{words.touches}</h4>
      {touches.length === 0 ? (
        <p className="soft">{words.nothingTouched}</p>
      ) : (
        <dl className="touch">
          {order
            .map((kind) => [kind, touches.filter((touch) => touch.kind === kind)] as const)
            .filter(([, some]) => some.length > 0)
            .map(([kind, some]) => (
              <div key={kind} className="touch-row">
                <dt>{words.touch[kind]}</dt>
                <dd>
                  {some.map((touch) => (
                    <span key={touch.what}>
                      <code>{printable(touch.what)}</code>
                      {size(touch) !== "" && <span className="dim">{words.now(size(touch))}</span>}
                      {touch.reachedBefore === false && <span className="tag tag-ask">{words.newHost}</span>}
                    </span>
                  ))}
                </dd>
              </div>
            ))}
        </dl>
      )}
      {proved ? (
        <p className="proved">
          <Icon name="circle-check" />
          {words.proved}
        </p>
      ) : (
        <p className="maybe">{words.perhapsMore}</p>
      )}
    </>
  )
}
