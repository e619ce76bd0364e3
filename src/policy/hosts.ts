import type { Finding, Guard } from "../model/guard.ts"
import type { Reason } from "../model/record.ts"
import type { Touch } from "../model/rule.ts"
import { hostLists, type HostJudgement, type HostOptions } from "./hosts-lists.ts"

/**
 * Looks at the hosts a call touches. What it adds are the bare hosts, which rules are compared with; they stand for the
 * addresses the tool named. A deny ends `host_denied`, an ask binds, and it covers when every host is allowed by a line.
 */
export function hostGuard(options: HostOptions): Guard {
  const lists = hostLists(options)
  return {
    look(touches) {
      const hosts = touches.filter(({ kind }) => kind === "host")
      if (hosts.length === 0) return { more: [], proved: true, findings: [] }
      const judged = hosts.map(({ what, configured }) => lists.judge(what, configured))
      return {
        more: bareHosts(judged),
        proved: judged.every(({ address }) => address !== undefined),
        findings: judged.flatMap(findingOf),
        covers: coveredBy(judged),
      }
    },
  }
}

function bareHosts(judged: readonly HostJudgement[]): Touch[] {
  const names = new Set(judged.flatMap(({ address }) => (address === undefined ? [] : [address.host])))
  return [...names].map((what) => ({ kind: "host", what }))
}

function findingOf({ says, reason }: HostJudgement): Finding[] {
  if (says === "deny") return [{ says, reason, code: "host_denied" }]
  return says === "ask" ? [{ says, reason: { ...reason, binding: true } }] : []
}

function coveredBy(judged: readonly HostJudgement[]): Reason | undefined {
  if (!judged.every(({ says }) => says === "allow")) return undefined
  const of = (part: "source" | "sentence", between: string) =>
    [...new Set(judged.map(({ reason }) => reason[part]))].join(between)
  return { voice: "guard", source: of("source", ", "), sentence: of("sentence", " ") }
}
