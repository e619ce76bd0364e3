import { Fragment } from "react"

/** A sentence of ours in which `**…**` is bold and `` `…` `` is code. Never used for words of agents. */
export function Marked({ text }: { text: string }) {
  return text.split(/(\*\*.*?\*\*|`.*?`)/).map((part, at) => {
    const key = `${at}`
    if (part.startsWith("**")) return <b key={key}>{part.slice(2, -2)}</b>
    if (part.startsWith("`")) return <code key={key}>{part.slice(1, -1)}</code>
    return <Fragment key={key}>{part}</Fragment>
  })
}
