import type { CardTouch, PendingItem } from "../../core/approval.ts"
import type { ApprovalCard } from "../../core/call.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { riskOf } from "./risk.ts"
import { summaryOf, titleOf } from "./title.ts"

/** An item before it has a title, a summary and a risk. */
export type PlainItem = Omit<PendingItem, "title" | "summary" | "risk">

/** The one view model: every interface shows this title, summary and risk. */
export function viewOf<Item extends PlainItem>(
  item: Item,
  tool: RegisteredTool | undefined,
): Item & Pick<PendingItem, "title" | "summary" | "risk"> {
  return { ...item, title: titleOf(item, tool), summary: summaryOf(item), risk: riskOf(item, tool) }
}

/** Touches as approvers see them. A host counts as new unless the card knows better. */
export function shownTouches(
  {
    touches,
    sizes,
    newHosts,
    commandParts = [],
  }: Pick<ApprovalCard, "touches" | "sizes" | "newHosts" | "commandParts">,
  tool: RegisteredTool | undefined,
): CardTouch[] {
  const deleted = new Set(commandParts.flatMap(({ deletes = [] }) => deletes))
  return touches.list.map(({ kind, what }) => {
    if (kind === "host") return { kind, what, reachedBefore: newHosts?.includes(what) === false }
    if (kind !== "write") return { kind, what }
    return { kind: tool?.destructive === true || deleted.has(what) ? "delete" : kind, what, ...sizes?.[what] }
  })
}

/** Risk and title in words, on one line: `High risk (deletes): Delete notes.md`. Our words come first. */
export function headingOf({ risk, title }: Pick<PendingItem, "risk" | "title">): string {
  return `${riskText(risk)}: ${title.text}`
}

function riskText({ band, tags }: PendingItem["risk"]): string {
  const because = tags.length === 0 ? "" : ` (${tags.map(({ text }) => text).join(", ")})`
  return `${bandWords[band]}${because}`
}

const bandWords = { high: "High risk", medium: "Medium risk", low: "Low risk" } as const
