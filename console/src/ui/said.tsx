import type { ReactNode } from "react"
import { printable } from "../../../src/lib/printable.ts"
import { useWords } from "../words/words.tsx"

/** Words that came with a call or an order and that nobody checked. Hidden characters in them are shown as codes. */
export function Said({ text, by, children }: { text: string; by?: string; children?: (text: string) => ReactNode }) {
  const words = useWords()
  const shown = printable(text)
  return (
    <>
      {children === undefined ? <b>{shown}</b> : children(shown)}{" "}
      <span className="tag tag-said">{by === undefined ? words.card.saidByCaller : words.card.saidBy(by)}</span>
    </>
  )
}
