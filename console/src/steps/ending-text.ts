import type { Words } from "../words/en.ts"
import { endOf, type CallFacts } from "./ticks.ts"

/** Describes the ending of a call, or its wait, in a few words. */
export function endingText(facts: CallFacts & { readonly edited?: boolean }, { steps }: Words): string {
  if (facts.state === "waiting") return steps.waits
  if (facts.state === "running") return steps.runs
  if (facts.state === "held") return steps.isHeld
  const end = endOf(facts)
  if (end === undefined) {
    if (facts.held) return steps.ranReleased
    if (facts.edited === true) return steps.ranEdited
    return facts.asked ? steps.ranApproved : steps.ran
  }
  if (facts.code === "invalid_arguments") return steps.badInput
  if (facts.code === "unknown_tool") return steps.unknownTool
  if (facts.code === "approval_expired") return steps.expired
  if (facts.code === "approval_rejected") return steps.rejected
  if (facts.code === "result_withheld") return steps.withheld
  return end[1] === "refused" ? steps.refusedAt(end[0]) : steps.failed
}
