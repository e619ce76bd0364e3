import type { Finding } from "../core/guard.ts"
import type { CallFacts } from "./check.ts"

const none: readonly Finding[] = []

/** Returns the findings of the guards that deny, ask or allow. */
export function findingsOf({ findings, tool }: CallFacts, verdict: Finding["verdict"]): readonly Finding[] {
  if (findings.length === 0) return none
  // A person who wants to be asked each time is asked, even when bubblewrap holds the call.
  const { requireExecutionApproval, confirmed } = tool.permission
  const isIgnored = ({ sandboxed }: Finding) =>
    verdict === "allow" && sandboxed === true && (requireExecutionApproval === true || confirmed === true)
  return findings.filter((finding) => finding.verdict === verdict && !isIgnored(finding))
}
