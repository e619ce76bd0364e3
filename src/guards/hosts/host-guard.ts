import type { Finding, Guard } from "../../core/guard.ts"
import type { Reason } from "../../core/reason.ts"
import type { Touch } from "../../core/touches.ts"
import { hostLists, type HostJudgement, type HostOptions } from "./host-lists.ts"

/**
 * Judges the hosts a call touches. Its extra touches are the bare host names, which rules are compared with instead of the
 * whole addresses. A denied host ends the call with `host_denied`.
 */
export function hostGuard(options: HostOptions): Guard {
  const lists = hostLists(options)
  return {
    check(touches) {
      const hosts = touches.filter(({ kind }) => kind === "host")
      if (hosts.length === 0) return { extraTouches: [], proved: true, findings: [] }
      const judgements = hosts.map(({ what, configured }) => lists.judge(what, configured))
      return {
        extraTouches: bareHosts(judgements),
        proved: judgements.every(({ address }) => address !== undefined),
        findings: judgements.flatMap(findingOf),
        allowedBy: hosts.some(({ script }) => script === true) ? undefined : allowedReason(judgements),
      }
    },
  }
}

function bareHosts(judgements: readonly HostJudgement[]): Touch[] {
  const names = new Set(judgements.flatMap(({ address }) => (address === undefined ? [] : [address.host])))
  return [...names].map((what) => ({ kind: "host", what }))
}

function findingOf({ verdict, reason }: HostJudgement): Finding[] {
  if (verdict === "deny") return [{ verdict, reason, code: "host_denied" }]
  return verdict === "ask" ? [{ verdict, reason: { ...reason, binding: true } }] : []
}

function allowedReason(judgements: readonly HostJudgement[]): Reason | undefined {
  if (!judgements.every(({ verdict }) => verdict === "allow")) return undefined
  const joined = (part: "source" | "sentence", separator: string) =>
    [...new Set(judgements.map(({ reason }) => reason[part]))].join(separator)
  const hosts = [...new Set(judgements.flatMap(({ address }) => address?.host ?? []))]
  return {
    check: "guard",
    source: joined("source", ", "),
    code: "hosts_allowed",
    params: { hosts },
    sentence: joined("sentence", " "),
  }
}
