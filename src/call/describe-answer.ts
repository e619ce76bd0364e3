import type { SettledAnswer } from "../model/call.ts"

/** What a person answered to a call, as the audit log has it. */
export function describeAnswer({ approved, edit, value, note, rejectReason, via }: SettledAnswer): string {
  const way = via === "link" ? " from a link" : ""
  if (edit !== undefined) return `edited the input${way}`
  if (value !== undefined) return `answered${way}`
  if (approved) return note === undefined ? `approved${way}` : `approved${way}, and says: ${note}`
  return `rejected${way}: ${rejectReason ?? "no reason given"}`
}

/** Why a result was withheld. */
export function describeWithheld(reason: string, via: SettledAnswer["via"]): string {
  const way = via === "link" ? "from a link" : ""
  return [way, reason].filter((part) => part !== "").join(": ")
}
