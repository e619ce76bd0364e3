import type { AnswerLink } from "./answer-link.ts"
import type { PendingItem } from "../../core/approval.ts"
import type { Card } from "../card/schema.ts"

/** Longer than this nobody reads on a phone. In characters. */
const mostShown = 20_000

/** A yes from a link needs nothing, the PIN, or the console, with why. */
export type YesNeeds =
  | { needs: "nothing" | "pin" }
  | { needs: "console"; because: "high" | "no-pin" | "not-counted" | "form" | "too-long" }

/**
 * A link says nothing about who opens it. So it approves only what has low risk; with the person's PIN also what has
 * medium risk; never what has high risk. A no is always possible.
 */
export function yesNeeds(card: Card, hasPin: boolean): YesNeeds {
  const { risk, question } = card
  if (risk.band === "high") return { needs: "console", because: "high" }
  if (!card.mayAnswer) return { needs: "console", because: "not-counted" }
  if (question?.form !== undefined || question?.url !== undefined || card.preview?.kind === "image")
    return { needs: "console", because: "form" }
  if (shownLength(card) > mostShown) return { needs: "console", because: "too-long" }
  if (risk.band === "low") return { needs: "nothing" }
  return hasPin ? { needs: "pin" } : { needs: "console", because: "no-pin" }
}

function shownLength({ preview, result, input, question }: Card): number {
  return JSON.stringify([preview ?? input, result?.text, question]).length
}

/** A link leads to the item it was made for, or says why it leads to nothing any more. */
export type LinkState =
  | "open"
  | "used"
  | "expired"
  | "ended"
  /** Its person is gone or may not answer any more. */
  | "void"
  /** The item no longer waits. */
  | "gone"
  /** It has another revision. */
  | "changed"

/** Finds what a link leads to now. `mayApprove`: its person has the scope. */
export function linkState(link: AnswerLink, item: PendingItem | undefined, mayApprove: boolean): LinkState {
  if (link.state !== "open") return link.state
  if (!mayApprove) return "void"
  // Once a call was approved, its result may wait under the same id and revision.
  if (item === undefined || item.kind !== link.kind) return "gone"
  return item.revision === link.revision ? "open" : "changed"
}
