import type { AgentView } from "../core/organisation.ts"

/**
 * Reports whether the agent and every agent above it have one of the roles, by name or id in any case. A role that an
 * agent made has whatever name that agent chose, so its name gives no right.
 */
export function hasRole(who: AgentView, roles: readonly string[]): boolean {
  const named = roles.map((role) => role.toLowerCase())
  return [who, ...who.ancestors].every(
    ({ role: { id, name, madeBy } }) =>
      madeBy !== "agent" && (named.includes(id.toLowerCase()) || named.includes(name.toLowerCase())),
  )
}
