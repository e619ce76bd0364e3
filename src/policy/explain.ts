import type { Explanation } from "../model/app.ts"
import type { AgentView } from "../model/organisation.ts"
import type { Facts, Verdict } from "../model/ports.ts"
import type { RegisteredTool } from "../model/tool.ts"
import * as change from "./changes.ts"
import { decide, questionAsk } from "./decide.ts"
import { hearCall, hearVisible, says, type Heard, type Judges } from "./heard.ts"
import { unknownAgent } from "./visible.ts"

/** A call to be explained. Its agent need not exist. */
export interface Asked extends Omit<Facts, "who"> {
  agentId: string
  who: AgentView | undefined
}

/**
 * What would become of a call, with every voice in order. It says what `hiddenBecause` and `decide` would, and that a
 * question waits for its answer.
 */
export function explain({ agentId, who, ...rest }: Asked, judges: Judges): Explanation {
  const { tool, touches } = rest
  const facts = who && { ...rest, who }
  const visible = who ? hearVisible(tool, who, judges) : [says(unknownAgent, "deny", change.create(agentId))]
  const call = facts ? hearCall(facts, judges) : []
  const verdict = facts && !visible.some(isDeny) ? decideWithQuestion(facts, judges) : hidden(visible)
  return {
    agentId,
    tool: tool.name,
    verdict: verdict.verdict,
    code: verdict.code,
    reasons: verdict.reasons,
    heard: [...visible, ...call].map(({ voice }) => voice),
    touches,
    approvers: verdict.approvers ?? [],
    release: stricter(tool.permission.requireResultApproval, verdict.release ?? "never"),
    change: [...new Set(changesFor(verdict, tool, [...visible, ...call]))],
    policy: judges.version,
  }
}

function decideWithQuestion(facts: Facts, { book, grants, mode }: Judges): Verdict {
  const verdict = decide(facts, book, grants, mode)
  const asks = questionAsk(facts.tool)
  if (asks === undefined || verdict.verdict !== "allow") return verdict
  return { ...verdict, verdict: "ask", reasons: [asks, ...verdict.reasons] }
}

function hidden(visible: readonly Heard[]): Verdict {
  const reasons = visible.filter(isDeny).map(({ voice: { says: _says, ...reason } }) => reason)
  return { verdict: "deny", reasons, code: reasons[0]?.voice === "freeze" ? "frozen" : "tool_not_available" }
}

function isDeny({ voice }: Heard): boolean {
  return voice.says === "deny"
}

/** What would make the voices that were decisive say something else. */
function changesFor({ verdict, reasons }: Verdict, tool: RegisteredTool, heard: readonly Heard[]): string[] {
  const changes = (isDecisive: (voice: Heard["voice"]) => boolean) =>
    heard.flatMap((one) => (isDecisive(one.voice) && one.change !== undefined ? [one.change] : []))
  if (verdict === "deny") return changes(({ says }) => says === "deny")
  if (verdict === "ask" && reasons[0]?.voice === "tool") return [change.answer()]
  if (verdict === "ask") {
    const isBound = reasons.some(({ binding }) => binding === true)
    return [
      change.approve(tool, isBound),
      ...changes((voice) => voice.says === "ask" && (!isBound || voice.binding === true)),
    ]
  }
  const asked = heard.some(({ voice }) => voice.says === "ask")
  return asked ? changes(({ says }) => says === "allow") : [change.tighten(tool)]
}

const releases = ["never", "on-error", "always"] as const

function stricter(one: Explanation["release"], other: Explanation["release"]): Explanation["release"] {
  return releases.indexOf(one) > releases.indexOf(other) ? one : other
}
