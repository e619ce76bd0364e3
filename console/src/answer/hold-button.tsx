import { useState, type ReactNode } from "react"
import { useWords } from "../words/words.tsx"
import type { Hold } from "./hold.ts"
import { useCardGuard } from "./card-guard.tsx"
import type { Subject } from "./guard.ts"
import type { Said } from "./said.ts"

interface Props {
  readonly hold: Hold
  readonly disabled: boolean
  readonly asleep: boolean
  readonly say: (said: Said) => void
  readonly children: ReactNode
}

/** A yes that is held: pointer, Space or Enter go down and stay down. */
export function HoldButton({ hold, disabled, asleep, say, children }: Props) {
  const words = useWords()
  const { guard } = useCardGuard()
  return (
    <button
      type="button"
      className={hold.held ? "btn btn-l btn-hold is-held" : "btn btn-l btn-hold"}
      disabled={disabled}
      aria-disabled={asleep || undefined}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        const verdict = guard.judge(guard.press(), false)
        if (verdict === "go") hold.begin()
        else if (verdict === "woke") say("clickAgain")
      }}
      onPointerUp={hold.cancel}
      onPointerLeave={hold.cancel}
      onPointerCancel={hold.cancel}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return
        event.preventDefault()
        if (!event.repeat && guard.judge(guard.press(), true) === "go") hold.begin()
      }}
      onKeyUp={hold.cancel}
      onBlur={hold.cancel}
    >
      {hold.held ? words.answer.keepHolding(words.time.seconds(hold.left / 1000)) : children}
    </button>
  )
}

/** For hands that cannot hold: the tool's name, typed. */
export function TypeName({ tool, run }: { tool: string; run: (subject: Subject) => void }) {
  const words = useWords()
  const { guard } = useCardGuard()
  const [typed, setTyped] = useState("")
  return (
    <form
      className="typename"
      onSubmit={(event) => {
        event.preventDefault()
        const subject = guard.press()
        if (typed.trim() === tool && subject !== undefined && guard.judge(subject, true) === "go") run(subject)
      }}
    >
      <input
        className="in mono"
        aria-label={words.answer.typeName(tool)}
        placeholder={words.answer.typeName(tool)}
        value={typed}
        autoComplete="off"
        onChange={(event) => setTyped(event.target.value)}
      />
      <button type="submit" className="btn btn-l" disabled={typed.trim() !== tool}>
        {words.answer.approve}
      </button>
    </form>
  )
}
