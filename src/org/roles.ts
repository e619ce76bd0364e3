import { newId } from "../model/identity.ts"
import type { Role } from "../model/organisation.ts"
import { OrganisationError, type Actor, type NewRole, type Sourced } from "../model/organisation-book.ts"
import { makerOf, refuseConfigured, refuseLookAlike } from "./checks.ts"
import { sources } from "./configured.ts"
import { keep, type Office } from "./office.ts"
import { roleFields } from "./role-fields.ts"

type Change = "created" | "updated" | "deleted"

/** Makes a role, or returns the live one of that name as it is. */
export async function createRole(
  office: Office,
  given: NewRole,
  by: Actor,
): Promise<{ role: Role; created: boolean; hint?: string }> {
  await office.documents.refresh()
  const maker = makerOf(office, by)
  const twin = office.roster.roleCalled(given.name)
  if (twin !== undefined) return { role: namesake(twin, given.name), created: false }

  const { fields, hint } = roleFields(office, { ...given, toolGroups: given.toolGroups ?? null }, maker)
  if (maker !== undefined) refuseLookAlike(office, given.name)
  const held = maker !== undefined && maker.agent.id !== "root"
  const role: Role = {
    id: newId(),
    name: given.name,
    rolePrompt: "",
    createdBy: by.id,
    madeBy: by.kind,
    createdAt: new Date(office.now()).toISOString(),
    status: "active",
    llmServiceId: null,
    toolGroups: null,
    ...(held ? { level: maker.level, department: maker.department } : {}),
    ...fields,
  }
  let faster: Role | undefined
  const kept = await keep(
    office,
    { kind: "role", id: role.id },
    by,
    () => ({ body: role, name: role.name }),
    (other) => (faster = other.body as Role),
  )
  if (faster !== undefined) return { role: faster, created: false }
  announce(office, kept, "created")
  return hint === undefined ? { role: kept, created: true } : { role: kept, created: true, hint }
}

export async function updateRole(
  office: Office,
  idOrName: string,
  change: Partial<NewRole>,
  by: Actor,
): Promise<{ role: Role; hint?: string }> {
  await office.documents.refresh()
  const maker = makerOf(office, by)
  const { id } = changeable(office, idOrName, by)
  const { fields, hint } = roleFields(office, change, maker)
  if (maker !== undefined && fields.name !== undefined) refuseLookAlike(office, fields.name, id)
  const role = await keep<Role>(office, { kind: "role", id }, by, () => {
    const role = { ...changeable(office, id, by), ...fields }
    if (fields.pins !== undefined && role.madeBy === "agent") refusePins(role)
    refuseTakenName(office, role)
    return { body: bare(role), name: role.name }
  })
  announce(office, role, "updated")
  return hint === undefined ? { role } : { role, hint }
}

/** Its agents have nothing from then on. */
export async function deleteRole(office: Office, idOrName: string, by: Actor): Promise<Role> {
  await office.documents.refresh()
  makerOf(office, by)
  const { id } = changeable(office, idOrName, by)
  const role = await keep<Role>(office, { kind: "role", id }, by, () => {
    const role = bare(changeable(office, id, by))
    return { body: { ...role, status: "deleted" }, name: role.name, live: false }
  })
  announce(office, role, "deleted")
  return role
}

/** The live role, if this actor may change it. */
function changeable({ roster }: Office, idOrName: string, by: Actor): Sourced<Role> {
  const role = roster.roleCalled(idOrName)
  if (role === undefined) {
    throw new OrganisationError(
      "role_not_found",
      `There is no role '${idOrName}'. List the roles to see which there are.`,
    )
  }
  if (role.source === sources.builtIn) {
    throw new OrganisationError(
      "cannot_modify_system_role",
      `Role '${role.name}' is built in and stays as it is. Create a role of your own.`,
    )
  }
  refuseConfigured(role, `Role '${role.name}'`, "org.roles")
  if (by.kind === "agent" && (role.madeBy !== "agent" || role.createdBy !== by.id)) {
    throw new OrganisationError("not_child_role", `You did not make role '${role.name}', so you cannot change it.`)
  }
  return role
}

function namesake(twin: Sourced<Role>, name: string): Role {
  if (twin.name === name) return bare(twin)
  const sentence = `'${name}' is the id of role '${twin.name}'. Choose another name.`
  throw new OrganisationError("name_taken", sentence)
}

function refuseTakenName({ roster }: Office, { id, name }: Role): void {
  const other = roster.roleCalled(name)
  if (other === undefined || other.id === id) return
  throw new OrganisationError("name_taken", `There is another role '${name}'. Choose another name.`)
}

function refusePins({ name, createdBy }: Role): never {
  throw new OrganisationError(
    "pins_not_allowed",
    `Role '${name}' was made by agent '${createdBy}', so pins of it do not count. Create a role of your own.`,
  )
}

function bare(role: Sourced<Role>): Role {
  const { source: _, ...rest } = role
  return rest
}

function announce({ emit, now }: Office, { id }: Role, change: Change): void {
  emit({ type: "ROLE_CHANGED", at: now(), role: id, change })
}
