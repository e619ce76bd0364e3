import { Fragment } from "react"
import { cut, type Span } from "./marks.ts"

/** A text with the colours of its language. */
export function HighlightedLines({ text, lines }: { text: string; lines: readonly (readonly Span[])[] }) {
  return text.split("\n").map((line, at) => (
    <Fragment key={`${at}`}>
      {at > 0 && "\n"}
      {cut(line, lines[at] ?? []).map((piece, place) =>
        piece.names.length === 0 ? (
          piece.text
        ) : (
          <span key={`${place}`} className={piece.names.join(" ")}>
            {piece.text}
          </span>
        ),
      )}
    </Fragment>
  ))
}
