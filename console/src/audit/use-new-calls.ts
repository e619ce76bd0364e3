import { useCallback, useEffect, useState } from "react"
import { queries, useStreamEvent } from "../api/live.ts"
import type { StreamEvent } from "../api/stream.ts"
import type { AuditSearch } from "./queries.ts"

/** Counts the calls that ended since the list was read. They are shown on request: nothing moves by itself. */
export function useNewCalls({ agent, tool, ending, task }: AuditSearch): { count: number; show: () => void } {
  const [count, setCount] = useState(0)
  const hear = useCallback(
    ({ name, data }: StreamEvent) => {
      if (name !== "audit" || task !== undefined) return
      if (agent !== undefined && data["agentId"] !== agent) return
      if (tool !== undefined && data["tool"] !== tool) return
      if (ending !== undefined && data["ending"] !== ending) return
      setCount((before) => before + 1)
    },
    [agent, tool, ending, task],
  )
  useStreamEvent(hear)
  useEffect(() => setCount(0), [hear])
  const show = () => {
    setCount(0)
    void queries.resetQueries({ queryKey: ["ended"] })
  }
  return { count, show }
}
