import { useRef, type ReactNode } from "react"
import { useCardGuard } from "./card-guard.tsx"
import type { Subject } from "./guard.ts"
import type { Said } from "./said.ts"

interface Props {
  readonly className?: string
  readonly disabled: boolean
  readonly asleep: boolean
  readonly run: (subject: Subject) => void
  readonly say: (said: Said) => void
  readonly children: ReactNode
}

/** A button whose click answers. What was shown when it went down is what is answered, or nothing is. */
export function AnswerButton({ className = "btn btn-l", disabled, asleep, run, say, children }: Props) {
  const { guard } = useCardGuard()
  const pressed = useRef<Subject>(undefined)
  const press = () => {
    pressed.current = guard.press()
  }
  return (
    <button
      type="button"
      className={className}
      disabled={disabled}
      aria-disabled={asleep || undefined}
      onPointerDown={press}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return
        if (event.repeat) event.preventDefault()
        else press()
      }}
      onClick={(event) => {
        const byKeyboard = event.detail === 0
        // Screen readers click without a press before it.
        const subject = pressed.current ?? (byKeyboard ? guard.press() : undefined)
        pressed.current = undefined
        const verdict = guard.judge(subject, byKeyboard)
        if (verdict === "go" && subject !== undefined) run(subject)
        else if (verdict === "woke") say("clickAgain")
      }}
    >
      {children}
    </button>
  )
}
