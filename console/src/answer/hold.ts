import { useCallback, useEffect, useRef, useState } from "react"
import { useCardGuard } from "./card-guard.tsx"
import { holdMs, type Subject } from "./guard.ts"

export interface Hold {
  readonly held: boolean
  /** Milliseconds still to hold, in steps of a tenth of a second. */
  readonly left: number
  readonly begin: () => void
  readonly cancel: () => void
}

/** A press that counts after 1.2 seconds. Letting go, leaving, Esc, another window or a change of the card end it. */
export function useHold(done: (subject: Subject) => void, onLetGo: () => void): Hold {
  const { guard } = useCardGuard()
  const [left, setLeft] = useState<number>()
  const running = useRef<{ stop: () => void }>(undefined)
  const latest = useRef({ done, onLetGo })
  useEffect(() => {
    latest.current = { done, onLetGo }
  })

  const cancel = useCallback(() => {
    if (running.current === undefined) return
    running.current.stop()
    latest.current.onLetGo()
  }, [])

  const begin = useCallback(() => {
    const pressed = guard.press()
    if (running.current !== undefined || pressed === undefined) return
    const began = performance.now()
    const timer = setInterval(() => {
      const rest = holdMs - (performance.now() - began)
      if (guard.judge(pressed, true) !== "go") return stop()
      setLeft(Math.max(0, rest))
      if (rest > 0) return
      stop()
      latest.current.done(pressed)
    }, 50)
    const stop = () => {
      clearInterval(timer)
      running.current = undefined
      setLeft(undefined)
    }
    running.current = { stop }
    setLeft(holdMs)
  }, [guard])

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && cancel()
    window.addEventListener("keydown", onKey)
    window.addEventListener("blur", cancel)
    return () => {
      window.removeEventListener("keydown", onKey)
      window.removeEventListener("blur", cancel)
      running.current?.stop()
    }
  }, [cancel])

  return { held: left !== undefined, left: Math.ceil((left ?? 0) / 100) * 100, begin, cancel }
}
