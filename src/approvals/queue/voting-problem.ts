import type { PendingItem } from "../../core/approval.ts"
import type { ApprovalPorts } from "./ports.ts"

/** Says why a person's yes would not count where a rule names who must agree; undefined when it would. */
export function votingProblem(
  { approvers, votes, userId }: Pick<PendingItem, "approvers" | "votes" | "userId">,
  by: string,
  ports: Pick<ApprovalPorts, "rolesOf">,
): string | undefined {
  if (approvers.length === 0) return undefined
  if (userId === by) return `The agent acts for ${by}, so somebody else must agree.`
  const roles = ports.rolesOf(by)
  if (userId !== undefined && roles === undefined)
    return `The agent acts for ${userId}, and nobody knows who '${by}' is. Answer as a person: --as.`
  const neededRoles = approvers.flatMap(({ role }) => role ?? [])
  if (neededRoles.length === approvers.length && !neededRoles.some((role) => roles?.includes(role)))
    return `${by} does not have the role that must agree (${neededRoles.join(", ")}).`
  if (votes.some((earlier) => samePerson(earlier.by, by, ports)))
    return `${by} has agreed already; somebody else must agree too.`
  return undefined
}

/** All unknown names together count as one person. */
function samePerson(a: string, b: string, { rolesOf }: Pick<ApprovalPorts, "rolesOf">): boolean {
  return a === b || (rolesOf(a) === undefined && rolesOf(b) === undefined)
}
