import type { PendingItem } from "../../core/approval.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { riskOf } from "./risk.ts"
import { summaryOf, titleOf } from "./title.ts"

/** What waits, before it has a title, a summary and a risk. */
export type PlainItem = Omit<PendingItem, "title" | "summary" | "risk">

/** The one view model: every interface shows this title, summary and risk. */
export function viewOf<Item extends PlainItem>(
  item: Item,
  tool: RegisteredTool | undefined,
): Item & Pick<PendingItem, "title" | "summary" | "risk"> {
  return { ...item, title: titleOf(item, tool), summary: summaryOf(item), risk: riskOf(item, tool) }
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
