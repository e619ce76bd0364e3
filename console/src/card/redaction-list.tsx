import { useState } from "react"
import { Icon } from "../ui/icon.tsx"
import { useWords } from "../words/words.tsx"
import { countRedacted, pointersAt, type Redaction } from "./redactions.ts"

interface ListProps {
  readonly value: unknown
  readonly redactions: readonly Redaction[]
  readonly setRedactions: (next: readonly Redaction[]) => void
  readonly disabled: boolean
}

/** Shows the redactions, each with its amount, and a field for another path. */
export function RedactionList({ value, redactions, setRedactions, disabled }: ListProps) {
  const words = useWords()
  const [path, setPath] = useState("")
  const [wrong, setWrong] = useState(false)
  return (
    <>
      <h4 className="h3">{words.card.redactions}</h4>
      {redactions.length === 0 && <p className="dim">{disabled ? words.card.noParts : words.card.noRedactions}</p>}
      <ul className="redlist">
        {redactions.map((each, at) => (
          <li key={`${at}`}>
            <Icon name="eye-off" small />
            <code className="grow cut">{each.kind === "values" ? each.path : each.pointer || "/"}</code>
            <span className="dim">{words.card.values(countRedacted(value, [each]))}</span>
            <button
              type="button"
              className="ib ib-s"
              aria-label={words.card.takeBack}
              onClick={() => setRedactions(redactions.filter((other) => other !== each))}
            >
              <Icon name="arrow-back-up" small />
            </button>
          </li>
        ))}
      </ul>
      {!disabled && (
        <form
          className="addpath"
          onSubmit={(event) => {
            event.preventDefault()
            const found = pointersAt(value, path).length > 0
            setWrong(!found)
            if (!found) return
            setRedactions([...redactions, { kind: "values", path }])
            setPath("")
          }}
        >
          <input
            className="in mono"
            aria-label={words.card.redactPath}
            placeholder={words.card.redactPath}
            value={path}
            onChange={(event) => setPath(event.target.value)}
          />
          <button type="submit" className="btn" disabled={path === ""}>
            {words.card.addPath}
          </button>
        </form>
      )}
      {wrong && (
        <p className="hint hint-wrong" role="alert">
          {words.card.noSuchPath}
        </p>
      )}
    </>
  )
}
