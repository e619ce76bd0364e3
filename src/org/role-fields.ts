import type { AgentView, Role } from "../model/organisation.ts"
import { OrganisationError, type NewRole } from "../model/organisation-book.ts"
import { groupsBeyond, weakerLevel } from "./ceilings.ts"
import { refuseBadLevel, refuseBadName, refuseBadPins, refuseUnknownDepartment } from "./checks.ts"
import type { Office } from "./office.ts"

/** What a change says about a role, checked. Only what it names is in there. */
export interface RoleFields {
  fields: Partial<Role>
  /** A sentence for whoever chose no groups. */
  hint?: string
}

export const dialects = ["native", "claude", "classic"]
const longestPrompt = 100_000

/**
 * Checks what is said about a role. An agent gives at most what it has: its level, its department, its groups; root,
 * which has nothing to lose, may give any. No agent pins.
 */
export function roleFields(office: Office, given: Partial<NewRole>, maker: AgentView | undefined): RoleFields {
  const { name, rolePrompt, level, dialect, pins, llmServiceId } = given
  if (name !== undefined) refuseBadName(name, "invalid_role_name")
  if (rolePrompt !== undefined) refuseBadPrompt(rolePrompt)
  if (dialect !== undefined && !dialects.includes(dialect)) {
    const sentence = `There is no dialect '${dialect}'. Use one of: ${dialects.join(", ")}.`
    throw new OrganisationError("invalid_dialect", sentence)
  }
  refuseBadLevel(level)
  refuseBadPins(pins)
  const department = given.department === "" ? undefined : given.department
  if (maker === undefined || maker.agent.id === "root") refuseUnknownDepartment(office, department)
  else refuseMoreThan(maker, { level, department }, office)
  if (maker !== undefined && pins !== undefined) {
    throw new OrganisationError(
      "pins_not_allowed",
      "Only a person can hold a role to versions of tools. Leave out pins.",
    )
  }
  const chosen = given.toolGroups === undefined ? undefined : chooseGroups(office, given.toolGroups, maker)
  const fields = {
    ...(name === undefined ? {} : { name }),
    ...(rolePrompt === undefined ? {} : { rolePrompt }),
    ...(level === undefined ? {} : { level }),
    ...(given.department === undefined ? {} : { department }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(pins === undefined ? {} : { pins }),
    ...(llmServiceId === undefined ? {} : { llmServiceId }),
    ...(chosen === undefined ? {} : { toolGroups: chosen.groups }),
  }
  return chosen?.hint === undefined ? { fields } : { fields, hint: chosen.hint }
}

function chooseGroups(
  { groups, defaultToolGroups }: Office,
  given: readonly string[] | null,
  maker: AgentView | undefined,
): { groups: readonly string[] | null; hint?: string } {
  const held = maker === undefined || maker.agent.id === "root" ? null : maker.groups
  const chosen = [...new Set(given ?? [])]
  const unknown = chosen.filter((id) => !groups.has(id))
  if (unknown.length > 0) {
    throw new OrganisationError("invalid_tool_group_ids", `${listed(unknown)} There is: ${idsOf(groups)}.`, {
      invalidGroups: unknown,
    })
  }
  const beyond = groupsBeyond(chosen, held)
  if (beyond.length > 0) {
    const sentence = `You do not have ${quoted(beyond)}, so you cannot give it. You have: ${(held ?? []).join(", ")}.`
    throw new OrganisationError("tool_groups_not_held", sentence, { invalidGroups: beyond })
  }
  if (chosen.length > 0) return { groups: chosen }
  if (held === null) {
    const what = defaultToolGroups === null ? "all groups" : `the default ones: ${defaultToolGroups.join(", ")}`
    return { groups: null, hint: `No groups were chosen, so the role has ${what}.` }
  }
  if (held.length === 0) {
    throw new OrganisationError("tool_groups_not_held", "You have no groups of tools, so you cannot give any.", {
      invalidGroups: [],
    })
  }
  return { groups: held, hint: `No groups were chosen, so the role has those of its maker: ${held.join(", ")}.` }
}

function refuseMoreThan(
  maker: AgentView,
  { level, department }: { level: number | undefined; department: string | undefined },
  { levelOrder }: Office,
): void {
  if (level !== undefined && weakerLevel(level, maker.level, levelOrder) !== level) {
    const sentence = `You have level ${maker.level}, so you cannot give level ${level}.`
    throw new OrganisationError("level_not_held", sentence)
  }
  if (department !== undefined && department !== maker.department) {
    const sentence = `You are in ${maker.department ?? "no department"}, so you cannot give department '${department}'.`
    throw new OrganisationError("department_not_held", sentence)
  }
}

function refuseBadPrompt(rolePrompt: string): void {
  if (typeof rolePrompt === "string" && rolePrompt.length <= longestPrompt) return
  const sentence = `A role's prompt must be a text of at most ${longestPrompt} characters.`
  throw new OrganisationError("invalid_role_prompt", sentence)
}

function listed(unknown: readonly string[]): string {
  return unknown.length === 1 ? `There is no group ${quoted(unknown)}.` : `There are no groups ${quoted(unknown)}.`
}

function quoted(ids: readonly string[]): string {
  return ids.map((id) => `'${id}'`).join(", ")
}

function idsOf(groups: Office["groups"]): string {
  return groups
    .list()
    .map(({ id }) => id)
    .join(", ")
}
