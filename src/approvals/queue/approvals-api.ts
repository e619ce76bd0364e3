import type { Approvals } from "./approvals.ts"
import type { CallRow } from "../../core/call.ts"
import type { Documents } from "../../core/documents.ts"
import type { ApprovalPorts } from "./ports.ts"
import type { Grant } from "../../core/rule.ts"
import { liveGrants } from "../../policy/decide/create-policy.ts"
import { approveWithRule } from "./approve-with-rule.ts"
import { answerPending, pendingItem as itemOf, standingVotes } from "./answer-pending.ts"
import { votingProblem } from "./voting-problem.ts"

const pageSize = 1000
type Filter = Parameters<Approvals["list"]>[0]

/** The approval queue: lists what waits for a person, takes answers, and lists and revokes grants. */
export function approvalsApi(
  ports: ApprovalPorts,
  documents: Documents,
  attach: Approvals["attach"],
  addRule: (rule: object, by: string) => Promise<unknown>,
): Approvals {
  const pendingItem = (row: CallRow) => itemOf({ ...row, votes: standingVotes(row, ports) }, ports)
  /** Everything that waits and has not expired. */
  const waiting = async ({ agentId, after: start, limit = Infinity }: Filter = {}): Promise<CallRow[]> => {
    const found: CallRow[] = []
    let after = start && { id: start.callId, createdAt: start.createdAt }
    while (found.length < limit) {
      const most = Math.min(pageSize, limit - found.length)
      const page = await ports.calls.list({
        states: ["waiting", "held"],
        deadlineAfter: ports.now(),
        limit: most,
        ...(agentId !== undefined && { agentId }),
        ...(after && { after }),
      })
      found.push(...page)
      if (page.length < most) break
      after = page.at(-1)
    }
    return found
  }
  return {
    attach,
    list: async (filter) => (await waiting(filter)).map(pendingItem),
    count: (filter) => ports.calls.countWaiting({ ...filter, at: ports.now() }),
    async show(callId) {
      const row = (await ports.calls.get(callId)) ?? onlyOne((await waiting()).filter(({ id }) => begins(id, callId)))
      const waits = row !== undefined && (row.state === "waiting" || row.state === "held")
      return waits && (row.deadline === null || row.deadline > ports.now()) ? pendingItem(row) : undefined
    },
    votingProblem: (item, by) => votingProblem(item, by, ports),
    answer: (callId, answer, by, revision, via) => answerPending(callId, answer, by, ports, revision, via),
    approveWithRule: (callId, given) => approveWithRule(callId, given, ports, addRule),
    grants: async ({ agentId, includeExpired = false } = {}) =>
      liveGrants(documents, ports.personSince)
        .filter((grant) => agentId === undefined || grant.agentId === agentId)
        .filter((grant) => includeExpired || grant.expiresAt === null || grant.expiresAt > ports.now())
        .sort((a, b) => a.createdAt - b.createdAt),
    async revoke(grantId, by) {
      const found = [...documents.all("grant")].filter(({ live, id }) => live && begins(id, grantId))
      const document = onlyOne(found)
      if (document === undefined) return undefined
      await documents.put({ kind: "grant", id: document.id, live: false, body: document.body }, by)
      return document.body as Grant
    },
  }
}

function onlyOne<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined
}

/** Reports whether a person may mean this id by its first characters. */
function begins(id: string, beginning: string): boolean {
  return beginning !== "" && id.startsWith(beginning)
}
