import { useQuery } from "@tanstack/react-query"
import { startTransition, useCallback, useEffect, useRef, useState } from "react"
import type { AnswerPieceJson, ChainViewJson } from "../../../src/interfaces/http/routes/chain-schemas.ts"
import { useStreamEvent } from "../api/live.ts"
import type { StreamEvent } from "../api/stream.ts"
import { turnsBefore, unfinishedNow, viewQuery } from "./queries.ts"
import { joinTurns, type Turns } from "./turns.ts"
import { further, withPiece, type Written } from "./written.ts"

export interface Chat {
  readonly view: ChainViewJson | undefined
  readonly turns: Turns
  /** The answer that is being written. */
  readonly written: Written | undefined
  /** Reads the turns before those that are shown. Undefined at the beginning. */
  readonly older: (() => void) | undefined
  readonly error: Error | null
  readonly again: () => void
}

/** A conversation, live: its newest turns, those before them as somebody scrolls up, and the answer as it is written. */
export function useChat(id: string): Chat {
  const { data: view, error, refetch } = useQuery(viewQuery(id))
  const [{ turns, before }, setShown] = useState<{ turns: Turns; before: string | undefined }>({
    turns: [],
    before: undefined,
  })
  const written = useWritten(id, view)
  const reading = useRef(false)

  useEffect(() => {
    if (view === undefined) return
    setShown((shown) => {
      const joined = joinTurns(shown.turns, view.items)
      const isFresh = joined === undefined || shown.turns.length === 0
      return { turns: joined ?? view.items, before: isFresh ? view.before : shown.before }
    })
  }, [view])

  const older = useCallback(() => {
    if (before === undefined || reading.current) return
    reading.current = true
    turnsBefore(id, before)
      .then((page) =>
        // Not at once: somebody is scrolling.
        startTransition(() =>
          setShown((shown) => ({ turns: joinTurns(shown.turns, page.items) ?? shown.turns, before: page.before })),
        ),
      )
      // The button is still there.
      .catch(() => {})
      .finally(() => (reading.current = false))
  }, [id, before])

  return {
    view,
    turns,
    written,
    older: before === undefined ? undefined : older,
    error,
    again: () => void refetch(),
  }
}

/** The unfinished answer: from the view, and then piece by piece from the stream. */
function useWritten(id: string, view: ChainViewJson | undefined): Written | undefined {
  const [written, setWritten] = useState<Written>()
  const latest = useRef<Written>(undefined)
  const put = useCallback((next: Written | undefined) => {
    latest.current = next
    setWritten(next)
  }, [])
  useEffect(() => {
    if (view === undefined) return
    put(view.unfinished === undefined ? undefined : further(latest.current, view.unfinished))
  }, [view, put])
  useStreamEvent(
    useCallback(
      ({ name, data }: StreamEvent) => {
        if (name !== "answer" || data["conversationId"] !== id) return
        const next = withPiece(latest.current, data as unknown as AnswerPieceJson)
        if (next !== undefined) return put(next)
        unfinishedNow(id).then(
          (whole) => put(further(latest.current, whole)),
          // The next piece asks again.
          () => {},
        )
      },
      [id, put],
    ),
  )
  // A finished turn takes the place of what was written of it.
  const isFinished = view?.items.some((turn) => turn.kind === "answer" && turn.asked === written?.turn) === true
  return isFinished ? undefined : written
}
