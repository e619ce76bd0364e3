import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import type { Card, Problem } from "../../../src/http/api/schemas.ts"
import { problemOf } from "../api/http.ts"
import { cardQuery } from "../api/queries.ts"

/** Where a call stands, as far as the server has said. */
export type Standing =
  | { readonly state: "waits" }
  | { readonly state: "answered"; readonly by: string | undefined; readonly did: Problem["did"] }
  | { readonly state: "expired" }
  | { readonly state: "gone" }

export interface Shown {
  /** The last that was seen of it. Undefined while it is loaded, or when it was never there. */
  readonly card: Card | undefined
  /** The revision before, if it changed while it was shown. */
  readonly before: Card | undefined
  readonly standing: Standing
  readonly problem: Problem | undefined
}

/** The card with this id. It stays as it was when it no longer waits: nothing is put in its place. */
export function useShownCard(callId: string, waiting: readonly Card[] | undefined): Shown {
  const inList = waiting?.find((card) => card.callId === callId)
  // A list leaves long contents out: nobody answers what they were not shown.
  const shortened = inList?.isShortened === true ? inList : undefined
  const listed = shortened === undefined ? inList : undefined
  const [seen, setSeen] = useState<{ callId: string; card: Card | undefined; before: Card | undefined }>({
    callId,
    card: listed,
    before: undefined,
  })
  const last = seen.callId === callId ? seen.card : undefined
  const single = useQuery({
    ...cardQuery(callId, shortened === undefined ? seenText(last) : `shortened ${shortened.revision}`),
    enabled: waiting !== undefined && listed === undefined,
  })
  const current = listed ?? (single.isSuccess ? single.data : undefined)
  useEffect(() => {
    setSeen((last) => {
      if (last.callId !== callId) return { callId, card: current, before: undefined }
      if (current === undefined || current === last.card) return last
      const changed = last.card !== undefined && last.card.revision !== current.revision
      return { callId, card: current, before: changed ? last.card : last.before }
    })
  }, [callId, current])
  const mine = seen.callId === callId ? seen : { card: undefined, before: undefined }
  const problem = single.isError && listed === undefined ? problemOf(single.error) : undefined
  return {
    card: current ?? mine.card,
    before: mine.before,
    standing: current === undefined && problem !== undefined ? standingOf(problem) : { state: "waits" },
    problem,
  }
}

function seenText(last: Card | undefined): string {
  return last === undefined ? "" : `${last.kind} ${last.revision}`
}

function standingOf({ status, code, by, name = by, did }: Problem): Standing {
  if (code === "expired") return { state: "expired" }
  if (code === "answered") return { state: "answered", by: name, did }
  return status === 404 || status === 409 || status === 410 ? { state: "gone" } : { state: "waits" }
}
