import { useState } from "react"
import type { Card } from "../../../src/approvals/card/schema.ts"
import { useKept, type Outcome } from "../answer/outcomes.ts"
import { useSleeping } from "../answer/use-sleeping.ts"
import { useServerTime } from "../api/clock.ts"
import { useConnection } from "../api/live.ts"
import { useOutput, type Printed } from "./output.tsx"
import type { Redaction } from "./redactions.ts"
import type { Shown } from "./shown-card.ts"
import { editedForLater } from "./strip.tsx"

/** The state of a shown card, and the person's work on it. */
export interface CardState {
  readonly name: "open" | "mine" | "late" | "expired" | "answered" | "gone" | "waits"
  /** True if it can be answered. */
  readonly open: boolean
  readonly answered: boolean
  readonly expired: boolean
  readonly offline: boolean
  readonly asleep: boolean
  readonly outcome: Outcome | undefined
  readonly edited: { input?: unknown } | undefined
  readonly printed: Printed
  readonly redactions: readonly Redaction[]
  readonly setRedactions: (next: readonly Redaction[]) => void
  readonly editing: boolean
  readonly setEditing: (editing: boolean) => void
}

export function useCard(shown: Shown, card: Card): CardState {
  const { outcome } = useKept(card.callId)
  const [redactions, setRedactions] = useState<readonly Redaction[]>([])
  const [editing, setEditing] = useState(false)
  const printed = useOutput(card.callId)
  const isOver = useServerTime() > card.until + 1000
  const offline = useConnection().state === "lost"
  const { state } = shown.standing

  const answered = outcome?.state === "done" && outcome.answered.done
  const late = outcome?.state === "late" && outcome.problem.code !== "changed"
  const expired = state === "expired" || (isOver && !answered && state === "waits")
  // The card is about the input before; the strip above it shows what was changed.
  const edited = editedForLater(shown, outcome)
  const open = !answered && !late && !expired && state === "waits"
  const asleep = useSleeping(open ? { callId: card.callId, revision: card.revision } : undefined)
  const name = answered || edited !== undefined ? "mine" : open ? "open" : late ? "late" : expired ? "expired" : state
  return {
    name,
    open,
    answered,
    expired,
    offline,
    asleep,
    outcome,
    edited,
    printed,
    redactions,
    setRedactions,
    editing,
    setEditing,
  }
}
