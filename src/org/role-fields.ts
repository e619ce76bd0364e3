import { nearestName } from "../lib/nearest-name.ts"
import type { AgentView, Role } from "../core/organisation.ts"
import { OrganisationError, type NewRole } from "./organisation-admin.ts"
import { groupsNotHeld, weakerLevel } from "./inherited-limits.ts"
import { refuseBadLevel, refuseBadName, refuseBadPins, refuseUnknownDepartment } from "./validation.ts"
import type { OrganisationContext } from "./write-document.ts"

/** The checked fields of a change to a role. Fields the change does not name are absent. */
export interface RoleFields {
  fields: Partial<Role>
  /** Says which groups the role got because none were chosen, or that it has no tools. */
  hint?: string
}

export const dialects = ["native", "claude", "classic"]
const maxPromptLength = 100_000

/**
 * Checks the fields of a new or changed role. An agent can give at most its own level, department and groups. Root may
 * give any of them. Only a person may set pins.
 */
export function roleFields(
  context: OrganisationContext,
  given: Partial<NewRole>,
  creator: AgentView | undefined,
): RoleFields {
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
  if (creator === undefined || creator.agent.id === "root") refuseUnknownDepartment(context, department)
  else refuseExceeding(creator, { level, department }, context)
  if (creator !== undefined && pins !== undefined) {
    throw new OrganisationError(
      "pins_not_allowed",
      "Only a person can pin the tool versions of a role. Leave out pins.",
    )
  }
  const chosen = given.toolGroups === undefined ? undefined : chooseGroups(context, given.toolGroups, creator)
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
  { groups, defaultToolGroups }: OrganisationContext,
  given: readonly string[] | null,
  creator: AgentView | undefined,
): { groups: readonly string[] | null; hint?: string } {
  const held = creator === undefined || creator.agent.id === "root" ? null : creator.groups
  const chosen = [...new Set(given ?? [])]
  const unknown = chosen.filter((id) => !groups.has(id))
  if (unknown.length > 0) {
    throw new OrganisationError(
      "invalid_tool_group_ids",
      `${noSuchGroups(unknown)}${meant(unknown, groups)} Use some of: ${idsOf(groups)}.`,
      {
        invalidGroups: unknown,
      },
    )
  }
  const beyond = groupsNotHeld(chosen, held)
  if (beyond.length > 0) {
    const sentence = `You do not have ${quoted(beyond)}, so you cannot give it. You have: ${(held ?? []).join(", ")}.`
    throw new OrganisationError("tool_groups_not_held", sentence, { invalidGroups: beyond })
  }
  if (chosen.length > 0) return { groups: chosen }
  if (given !== null) return { groups: [], hint: "The role has no groups, so its agents have no tools." }
  if (held === null) {
    const what = defaultToolGroups === null ? "all groups" : `the default ones: ${defaultToolGroups.join(", ")}`
    return { groups: null, hint: `No groups were chosen, so the role has ${what}.` }
  }
  if (held.length === 0) {
    throw new OrganisationError("tool_groups_not_held", "You have no tool groups, so you cannot give any.", {
      invalidGroups: [],
    })
  }
  return { groups: held, hint: `No groups were chosen, so the role has those of its creator: ${held.join(", ")}.` }
}

function refuseExceeding(
  creator: AgentView,
  { level, department }: { level: number | undefined; department: string | undefined },
  { levelOrder }: OrganisationContext,
): void {
  if (level !== undefined && weakerLevel(level, creator.level, levelOrder) !== level) {
    const sentence = `You have level ${creator.level}, so you cannot give level ${level}.`
    throw new OrganisationError("level_not_held", sentence)
  }
  if (department !== undefined && department !== creator.department) {
    const sentence = `You are in ${creator.department ?? "no department"}, so you cannot give department '${department}'.`
    throw new OrganisationError("department_not_held", sentence)
  }
}

function refuseBadPrompt(rolePrompt: string): void {
  if (typeof rolePrompt === "string" && rolePrompt.length <= maxPromptLength) return
  const sentence = `A role's prompt must be a text of at most ${maxPromptLength} characters.`
  throw new OrganisationError("invalid_role_prompt", sentence)
}

function noSuchGroups(unknown: readonly string[]): string {
  return unknown.length === 1 ? `There is no group ${quoted(unknown)}.` : `There are no groups ${quoted(unknown)}.`
}

function meant(unknown: readonly string[], groups: OrganisationContext["groups"]): string {
  const known = groups.list().map(({ id }) => id)
  const guesses = unknown.flatMap((id) => nearestName(id, known) ?? [])
  return guesses.length === 0 ? "" : ` Did you mean ${quoted(guesses)}?`
}

function quoted(ids: readonly string[]): string {
  return ids.map((id) => `'${id}'`).join(", ")
}

function idsOf(groups: OrganisationContext["groups"]): string {
  return groups
    .list()
    .map(({ id }) => id)
    .join(", ")
}
