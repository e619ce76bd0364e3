import { useNotify } from "../frame/attention.ts"
import { Icon } from "../ui/icon.tsx"
import { useWords } from "../words/words.tsx"
import look from "./inbox.module.css"

/** Asks once whether this browser may tell about new cards. The menu of the person changes it later. */
export function AskNotify() {
  const { frame } = useWords()
  const { notify, canNotify, turn } = useNotify()
  if (notify !== undefined || !canNotify) return null
  return (
    <div className={look["digest"]} role="group" aria-label={frame.notifyAsk}>
      <Icon name="message" small />
      <p className="grow">{frame.notifyAsk}</p>
      <button type="button" className="btn btn-s" onClick={() => void turn("on")}>
        {frame.notifyYes}
      </button>
      <button type="button" className="btn btn-s btn-q" onClick={() => void turn("off")}>
        {frame.notifyNo}
      </button>
    </div>
  )
}
