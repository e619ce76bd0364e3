import type { AgentView } from "../core/organisation.ts"
import { OrganisationError, type ChangedBy } from "./organisation-admin.ts"
import { sources } from "./configured-organisation.ts"
import type { OrganisationContext } from "./write-document.ts"

/** The agent that makes a change, or undefined when a person does. Throws for an agent that has ended. */
export function actingAgent({ views }: OrganisationContext, by: ChangedBy): AgentView | undefined {
  if (by.kind === "person") return undefined
  const agent = views.view(by.id)
  if (agent !== undefined) return agent
  throw new OrganisationError(
    "caller_terminated",
    `Agent '${by.id}' has ended, is not known or has no role, so it cannot change the organisation.`,
  )
}

export function requirePerson(by: ChangedBy, what: string): void {
  if (by.kind === "person") return
  throw new OrganisationError("person_required", `Only a person can ${what}. Ask a person to do it.`)
}

/** Refuses a change of anything configured: it can be changed only in the configuration. */
export function refuseConfigured({ source }: { source: string }, what: string, key: string): void {
  if (source !== sources.configuration) return
  const sentence = `${what} is written in the configuration, under ${key}. Change it there.`
  throw new OrganisationError("read_only", sentence, { source, key })
}

/** Checks the ids of agents, departments and people. */
export function refuseBadId(id: string, kind: string): void {
  if (typeof id === "string" && /^[A-Za-z0-9_.:-]{1,100}$/.test(id)) return
  throw new OrganisationError(
    `invalid_${kind}_id`,
    `${JSON.stringify(id)} cannot be the id of ${kind === "agent" ? "an" : "a"} ${kind}. Use 1 to 100 letters, digits and _ . : -`,
  )
}

/** Checks names that people and models read. */
export function refuseBadName(name: string, code: string): void {
  const fits = typeof name === "string" && name.length <= 200 && name.trim() === name && name !== ""
  if (fits && !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name) && !blankLetter.test(name)) return
  throw new OrganisationError(
    code,
    "A name needs 1 to 200 visible characters, without spaces at its ends, control or invisible characters.",
  )
}

/** Characters that show nothing although their Unicode category says otherwise. */
const blankLetter = /[\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u{1d159}]/u

/**
 * Checks the name that an agent chooses for a role: it must be in its normal Unicode form and must not look like the name
 * of another live role. `id` is the id of the role itself.
 */
export function refuseLookAlike({ roster }: OrganisationContext, name: string, id?: string): void {
  if (name.normalize("NFKC") !== name || /\p{Default_Ignorable_Code_Point}|(?! )\p{Zs}/u.test(name)) {
    throw new OrganisationError(
      "invalid_role_name",
      `${JSON.stringify(name)} has characters that look like others. Write the name in plain letters, digits and spaces.`,
    )
  }
  const looks = skeleton(name)
  const twin = roster
    .roles()
    .find(
      (role) =>
        role.status === "active" && role.id !== id && [role.name, role.id].some((word) => skeleton(word) === looks),
    )
  if (twin === undefined) return
  throw new OrganisationError("name_taken", `'${name}' looks like role '${twin.name}'. Choose another name.`)
}

/** The name without case, invisible characters and extra spaces, to compare how names look. */
function skeleton(name: string): string {
  const folded = name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC")
  return folded
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll(/\s+/g, " ")
    .trim()
}

/** Any department is allowed until some are defined. From then on only those are. */
export function refuseUnknownDepartment({ roster }: OrganisationContext, department: string | undefined): void {
  if (department === undefined || roster.department(department) !== undefined) return
  const known = roster.departments()
  if (known.length === 0) return
  throw new OrganisationError(
    "unknown_department",
    `Department '${department}' does not exist. Create it first, or use one of: ${known.map(({ id }) => id).join(", ")}.`,
  )
}

export function refuseBadLevel(level: number | undefined): void {
  if (level === undefined || Number.isFinite(level)) return
  throw new OrganisationError("invalid_level", "A level must be a number.")
}

export function refuseBadPins(pins: Readonly<Record<string, string>> | undefined): void {
  const valid = Object.entries(pins ?? {}).every(([tool, version]) => tool !== "" && isText(version))
  if (valid) return
  throw new OrganisationError("invalid_pins", "Pins map the name of a tool to its version, for example sleep=1.0.0.")
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== ""
}
