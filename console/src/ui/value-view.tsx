import { isObject } from "../../../src/lib/is-object.ts"
import { useState } from "react"
import { printable, printableJson } from "../../../src/lib/printable.ts"
import { useWords } from "../words/words.tsx"
import { CopyButton } from "./copy-text.tsx"
import { Images } from "./images.tsx"
import { StoredImage } from "./stored-image.tsx"
import { exitCodeIn, imagesIn, storedImagesIn, textIn, withoutImageBytes } from "./value-parts.ts"

type View = "text" | "image" | "json"

interface Props {
  readonly value: unknown
  readonly label: string
  readonly jsonOnly?: boolean
  /** Whose artifacts the images of a recorded value are. */
  readonly agentId?: string
}

/** A value that a tool returned: as text or image where it has one, and always as JSON. */
export function ValueView({ value, label, jsonOnly = false, agentId }: Props) {
  const words = useWords()
  const text = jsonOnly && typeof value !== "string" ? undefined : textIn(value)
  const hasImages = !jsonOnly && imagesIn(value).length > 0
  const stored = agentId === undefined ? undefined : storedImagesIn(value)
  const views: readonly View[] = [
    ...(hasImages || stored !== undefined ? (["image"] as const) : []),
    ...(text === undefined ? [] : (["text"] as const)),
    ...(typeof value === "string" ? [] : (["json"] as const)),
  ]
  const [chosen, setChosen] = useState<View>()
  const view = chosen !== undefined && views.includes(chosen) ? chosen : (views[0] ?? "json")
  const names = { text: words.steps.asText, image: words.steps.asImage, json: "JSON" }
  const printed = view === "text" ? (text ?? "") : (JSON.stringify(withoutImageBytes(value), null, 2) ?? "")
  return (
    <div className="vv">
      <div className="vv-h">
        <b>{label}</b>
        <ExitCode value={value} />
        <span className="grow" />
        {views.length > 1 && (
          <div className="seg" role="group" aria-label={words.card.view}>
            {views.map((each) => (
              <button key={each} type="button" aria-pressed={view === each} onClick={() => setChosen(each)}>
                {names[each]}
              </button>
            ))}
          </div>
        )}
        {view !== "image" && <CopyButton text={printed} />}
      </div>
      {view === "image" ? (
        <>
          <Images value={value} label={words.steps.theImage} />
          {stored?.refs.map((ref) => (
            <StoredImage key={ref} reference={ref} mimeType={stored.mimeType} agentId={agentId ?? ""} />
          ))}
        </>
      ) : view === "text" ? (
        <Block text={printed} label={label} />
      ) : (
        <JsonBlock value={withoutImageBytes(value)} label={label} />
      )}
    </div>
  )
}

/** Shows the exit code of a command: one other than 0 is no failure of the call, and easily overlooked. */
export function ExitCode({ value }: { value: unknown }) {
  const words = useWords()
  const code = exitCodeIn(value)
  if (code === undefined) return null
  return <span className={code === 0 ? "tag" : "tag tag-deny"}>{words.steps.exit(code)}</span>
}

/** Text as a tool printed it. It scrolls, so it can have the focus. */
export function Block({ text, label }: { text: string; label: string }) {
  return (
    <section className="term term-s" tabIndex={0} aria-label={label}>
      <pre>{text === "" ? " " : printable(text.replaceAll("\r\n", "\n"))}</pre>
    </section>
  )
}

/** JSON with its parts in colour. */
export function JsonBlock({ value, label }: { value: unknown; label: string }) {
  const printed = value === undefined ? "undefined" : printableJson(value, 2)
  const long = isObject(value) || Array.isArray(value) ? printed.length > 60_000 : true
  return (
    <section className="term term-s json-b" tabIndex={0} aria-label={label}>
      <pre>{long ? printed : <Coloured text={printed} />}</pre>
    </section>
  )
}

const token = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

function Coloured({ text }: { text: string }) {
  const parts = []
  let end = 0
  for (const match of text.matchAll(token)) {
    const [whole, string, colon] = match
    parts.push(text.slice(end, match.index))
    const kind = string === undefined ? "j-n" : colon === undefined ? "j-s" : "j-k"
    parts.push(
      <span key={match.index} className={kind}>
        {whole}
      </span>,
    )
    end = match.index + whole.length
  }
  parts.push(text.slice(end))
  return parts
}
