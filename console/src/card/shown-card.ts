import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import type { Problem, Standing as Told } from "../../../src/interfaces/http/routes/schemas.ts"
import { standingQuery } from "../api/queries.ts"

/** The state of a call, as far as the server has told it. */
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
    ...standingQuery(callId, shortened === undefined ? seenText(last) : `shortened ${shortened.revision}`),
    enabled: waiting !== undefined && listed === undefined,
  })
  const current = listed ?? single.data?.card
  useEffect(() => {
    setSeen((last) => {
      if (last.callId !== callId) return { callId, card: current, before: undefined }
      if (current === undefined || current === last.card) return last
      const changed = last.card !== undefined && last.card.revision !== current.revision
      return { callId, card: current, before: changed ? last.card : last.before }
    })
  }, [callId, current])
  const mine = seen.callId === callId ? seen : { card: undefined, before: undefined }
  const told = listed === undefined && current === undefined ? single.data : undefined
  return { card: current ?? mine.card, before: mine.before, standing: told === undefined ? waits : standingOf(told) }
}

const waits: Standing = { state: "waits" }

/** Returns the seen version of a card: another revision is asked about anew. */
export function seenText(last: Card | undefined): string {
  return last === undefined ? "" : `${last.kind} ${last.revision}`
}

function standingOf({ state, by, name = by, did }: Told): Standing {
  if (state === "expired") return { state }
  if (state === "answered") return { state, by: name, did }
  return state === "waiting" ? waits : { state: "gone" }
}
