import { useEffect, useLayoutEffect, useState } from "react"
import type { Subject } from "./guard.ts"
import { useCardGuard } from "./card-guard.tsx"

/** Tells the guard which card is shown, and says whether it still sleeps. */
export function useSleeping(subject: Subject | undefined): boolean {
  const { guard } = useCardGuard()
  const { callId, revision } = subject ?? {}
  const [sleeping, setSleeping] = useState(true)
  useLayoutEffect(() => {
    guard.show(callId === undefined || revision === undefined ? undefined : { callId, revision })
    setSleeping(guard.sleeping())
  }, [guard, callId, revision])
  useEffect(() => {
    const fallAsleep = () => setSleeping(guard.sleeping())
    window.addEventListener("focus", fallAsleep)
    return () => window.removeEventListener("focus", fallAsleep)
  }, [guard])
  useEffect(() => {
    if (!sleeping) return undefined
    const timer = setTimeout(() => setSleeping(false), guard.sleepsFor() + 5)
    return () => clearTimeout(timer)
  }, [guard, sleeping, callId, revision])
  return sleeping
}
