import { useEffect, useSyncExternalStore } from "react"
import { QueryClient } from "@tanstack/react-query"
import { problemOf } from "./http.ts"
import { topicsOf, type Topic } from "./invalidate.ts"
import { openStream, type Connection, type Stream, type StreamEvent } from "./stream.ts"

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // The server would refuse a refused request again. Only a lost connection is worth another try.
      retry: (failures, error) => failures < 2 && problemOf(error).status === 0,
      retryDelay: 500,
    },
  },
})

let stream: Stream | undefined
const stale = new Set<Topic>()
let timer: ReturnType<typeof setTimeout> | undefined

/** Opens the stream once somebody is signed in. Bursts of events become one reading. */
export function goLive(): Stream {
  if (stream !== undefined) return stream
  stream = openStream("/v1/events")
  stream.onEvent((event) => {
    for (const topic of topicsOf(event)) stale.add(topic)
    timer ??= setTimeout(() => {
      timer = undefined
      for (const topic of stale) void queries.invalidateQueries({ queryKey: [topic] })
      stale.clear()
    }, 80)
  })
  return stream
}

export const useConnection = (): Connection => useSyncExternalStore(goLive().onConnection, goLive().connection)

/** Calls `listener` for every event of the stream while the component is shown. */
export function useStreamEvent(listener: (event: StreamEvent) => void): void {
  useEffect(() => goLive().onEvent(listener), [listener])
}
