import { useEffect, useState, type ReactNode } from "react"

/** Shows what stands for something that is loading, but only after 200 ms: what is quick does not flicker. */
export function Later({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 200)
    return () => clearTimeout(timer)
  }, [])
  return shown ? children : null
}
