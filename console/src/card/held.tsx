import { Fragment, useCallback, useMemo, useRef, useState } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { printable } from "../../../src/lib/printable.ts"
import { useCommandKeys } from "../answer/use-guard.ts"
import { Gate, Icon } from "../ui/icon.tsx"
import { Images } from "../ui/images.tsx"
import { Marked } from "../ui/marked.tsx"
import { imagesIn, withoutImageBytes } from "../ui/value-parts.ts"
import { useWords } from "../words/words.tsx"
import { Why } from "./found.tsx"
import { jsonLines, type JsonToken } from "./json-lines.ts"
import { Request } from "./preview.tsx"
import { RedactionList } from "./redaction-list.tsx"
import { everyElement, pointersAt, redactionsOfWords, redactValue, type Redaction } from "./redactions.ts"
import { printed, useSelection, type Selected } from "./result-selection.ts"

interface Props {
  readonly card: Card
  readonly redactions: readonly Redaction[]
  readonly setRedactions: (next: readonly Redaction[]) => void
}

/** A held result: what the model has not seen, and what is taken out of it. */
export function Held({ card, redactions, setRedactions }: Props) {
  const words = useWords()
  const result = card.result
  const value = result?.value
  const [leaves, setLeaves] = useState(false)
  const [all, setAll] = useState(false)
  const body = useRef<HTMLDivElement>(null)
  const selected = useSelection(body)
  const shown = useMemo(() => redactValue(value, redactions), [value, redactions])
  const marked = useMemo(
    () => new Set(redactions.flatMap((each) => (each.kind === "values" ? pointersAt(value, each.path) : []))),
    [value, redactions],
  )
  const add = useCallback(
    (more: readonly Redaction[]) => {
      setRedactions([...redactions, ...more])
      window.getSelection()?.removeAllRanges()
    },
    [redactions, setRedactions],
  )
  const redactSelected = () => {
    if (selected === undefined) return false
    const [only] = selected.pointers
    if (selected.text !== undefined && only !== undefined) add(redactionsOfWords(value, only, selected.text))
    else add(selected.pointers.map((path) => ({ kind: "values", path })))
    return true
  }
  useCommandKeys((key) => (key === "Backspace" || key === "Delete") && redactSelected())
  if (result === undefined) return null
  return (
    <section className="found" data-found>
      <h3 className="block-head">
        <Gate size="s" />
        {words.card.found}
        <small className="grow cut">{words.card.seenNothing}</small>
        <span className="seg" role="group" aria-label={words.card.view}>
          <button type="button" aria-pressed={!leaves} onClick={() => setLeaves(false)}>
            {words.card.asItIsHeld}
          </button>
          <button type="button" aria-pressed={leaves} onClick={() => setLeaves(true)}>
            {words.card.asItLeaves}
          </button>
        </span>
      </h3>
      {card.preview?.kind === "request" && <Request method={card.preview.method} url={card.preview.url} />}
      {!result.success && (
        <div className="strip strip-in strip-deny">
          <Icon name="alert-triangle" />
          <p>
            <b>{words.card.failed}</b>
          </p>
        </div>
      )}
      <HeldImages
        value={leaves ? shown : value}
        takeOut={leaves || !result.success ? undefined : () => add(imagePaths(value))}
      />
      <div className="held-body" ref={body}>
        <ResultText
          value={withoutImageBytes(leaves ? shown : value)}
          text={result.text}
          limit={all ? Number.POSITIVE_INFINITY : 10}
          marked={leaves ? new Set() : marked}
          texts={leaves ? [] : redactions.flatMap((each) => (each.kind === "text" ? [each] : []))}
          showAll={() => setAll(true)}
        />
        {selected !== undefined && !leaves && result.success && (
          <SelectionBar value={value} selected={selected} redact={redactSelected} add={add} />
        )}
      </div>
      <div className="two two-even">
        <div>
          <RedactionList
            value={value}
            redactions={redactions}
            setRedactions={setRedactions}
            disabled={!result.success}
          />
        </div>
        <div>
          <Why card={card} />
        </div>
      </div>
    </section>
  )
}

/** Everything by which a model could see the image: the image itself, and the artifacts that have it too. */
const imagePaths = (value: unknown): readonly Redaction[] =>
  ["/image", "/images"].flatMap((path) =>
    pointersAt(value, path).length > 0 ? [{ kind: "values", path } as const] : [],
  )

function HeldImages({ value, takeOut }: { value: unknown; takeOut: (() => void) | undefined }) {
  const words = useWords()
  if (imagesIn(value).length === 0) return null
  return (
    <figure className="image">
      <Images value={value} label={words.steps.theImage} />
      {takeOut !== undefined && imagePaths(value).length > 0 && (
        <figcaption>
          <button type="button" className="btn btn-s" onClick={takeOut}>
            {words.card.takeImageOut}
          </button>
        </figcaption>
      )}
    </figure>
  )
}

interface TextProps {
  readonly value: unknown
  readonly text: string
  readonly limit: number
  readonly marked: ReadonlySet<string>
  readonly texts: readonly Extract<Redaction, { kind: "text" }>[]
  readonly showAll: () => void
}

function ResultText({ value, text, limit, marked, texts, showAll }: TextProps) {
  const words = useWords()
  const token = (each: JsonToken, at: number) => {
    const key = `${at}`
    if (each.pointer !== undefined && marked.has(each.pointer))
      return (
        <mark key={key} className="red" data-pointer={each.pointer}>
          {words.card.redacted}
        </mark>
      )
    if (each.kind === "plain") return each.text
    return (
      <i key={key} className={`j-${each.kind[0]}`} data-pointer={each.pointer}>
        <WithoutTexts
          broken
          text={each.text}
          texts={texts.flatMap(({ pointer, text }) => (pointer === each.pointer ? { text: printed(text) } : []))}
        />
      </i>
    )
  }
  if (value === undefined || typeof value === "string")
    return (
      <pre className="json" tabIndex={0} role="group" aria-label={words.card.theResult}>
        <span className="jl" data-pointer="">
          <WithoutTexts text={printable(value ?? text)} texts={texts.map((each) => ({ text: printable(each.text) }))} />
        </span>
      </pre>
    )
  return (
    <pre className="json" tabIndex={0} role="group" aria-label={words.card.theResult}>
      {jsonLines(value, limit).map(({ tokens, folded }, at) => (
        <span key={`${at}`} className={folded === undefined ? "jl" : "jl jl-fold"}>
          {tokens.map(token)}
          {folded !== undefined && (
            <button type="button" className="linklike" onClick={showAll}>
              {words.card.moreRows(folded.count)}
            </button>
          )}
        </span>
      ))}
    </pre>
  )
}

interface WithoutProps {
  readonly text: string
  readonly texts: readonly { text: string }[]
  /** Goes on in a new line after each printed `\\n`, so that a text can be read. */
  readonly broken?: boolean
}

function WithoutTexts({ text, texts, broken = false }: WithoutProps) {
  const words = useWords()
  const [first, ...rest] = texts
  if (first === undefined || first.text === "") return broken ? <Broken text={text} /> : text
  return text.split(first.text).map((part, at) => (
    <span key={`${at}`}>
      {at > 0 && <mark className="red">{words.card.redacted}</mark>}
      <WithoutTexts text={part} texts={rest} broken={broken} />
    </span>
  ))
}

const Broken = ({ text }: { text: string }) =>
  text.split(/(?<=\\n)/).map((line, at) => (
    <Fragment key={`${at}`}>
      {at > 0 && <br />}
      {line}
    </Fragment>
  ))

interface BarProps {
  readonly value: unknown
  readonly selected: Selected
  readonly redact: () => void
  readonly add: (more: readonly Redaction[]) => void
}

function SelectionBar({ value, selected, redact, add }: BarProps) {
  const words = useWords()
  const [only] = selected.pointers
  const every =
    selected.pointers.length === 1 && only !== undefined && only !== "" ? everyElement(value, only) : undefined
  // A press on the bar must not end the selection.
  const keep = (event: { preventDefault: () => void }) => event.preventDefault()
  return (
    <div className="pop" role="toolbar" aria-label={words.card.selectedText} onPointerDown={keep} onMouseDown={keep}>
      <button type="button" className="btn btn-s btn-p" onClick={redact}>
        {words.card.redact}
        <kbd aria-hidden="true">⌫</kbd>
      </button>
      {every !== undefined && (
        <button type="button" className="btn btn-s btn-q" onClick={() => add([{ kind: "values", path: every }])}>
          <Marked text={words.card.redactEvery(every)} />
        </button>
      )}
    </div>
  )
}
