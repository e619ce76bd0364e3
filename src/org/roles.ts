import { newId } from "../lib/new-id.ts"
import type { Role } from "../core/organisation.ts"
import { OrganisationError, type ChangedBy, type NewRole, type Sourced } from "./organisation-admin.ts"
import { actingAgent, refuseConfigured, refuseLookAlike } from "./validation.ts"
import { sources } from "./configured-organisation.ts"
import { writeDocument, type OrganisationContext } from "./write-document.ts"
import { roleFields } from "./role-fields.ts"

type Change = "created" | "updated" | "deleted"

/** Creates a role, or returns the live role of that name unchanged. */
export async function createRole(
  context: OrganisationContext,
  given: NewRole,
  by: ChangedBy,
): Promise<{ role: Role; created: boolean; hint?: string }> {
  await context.documents.refresh()
  const creator = actingAgent(context, by)
  const existing = context.roster.findRole(given.name)
  if (existing !== undefined) return { role: existingRole(existing, given.name), created: false }

  const { fields, hint } = roleFields(context, { ...given, toolGroups: given.toolGroups ?? null }, creator)
  if (creator !== undefined) refuseLookAlike(context, given.name)
  const held = creator !== undefined && creator.agent.id !== "root"
  const role: Role = {
    id: newId(),
    name: given.name,
    rolePrompt: "",
    createdBy: by.id,
    madeBy: by.kind,
    createdAt: new Date(context.now()).toISOString(),
    status: "active",
    llmServiceId: null,
    toolGroups: null,
    ...(held ? { level: creator.level, department: creator.department } : {}),
    ...fields,
  }
  let fromOther: Role | undefined
  const stored = await writeDocument(
    context,
    { kind: "role", id: role.id },
    by,
    () => ({ body: role, name: role.name }),
    (other) => (fromOther = other.body as Role),
  )
  if (fromOther !== undefined) return { role: fromOther, created: false }
  announce(context, stored, "created")
  return hint === undefined ? { role: stored, created: true } : { role: stored, created: true, hint }
}

export async function updateRole(
  context: OrganisationContext,
  idOrName: string,
  change: Partial<NewRole>,
  by: ChangedBy,
  revision?: string,
): Promise<{ role: Role; hint?: string }> {
  await context.documents.refresh()
  const creator = actingAgent(context, by)
  const { id } = changeableRole(context, idOrName, by)
  const { fields, hint } = roleFields(context, change, creator)
  if (creator !== undefined && fields.name !== undefined) refuseLookAlike(context, fields.name, id)
  const role = await writeDocument<Role>(context, { kind: "role", id }, by, () => {
    refuseOldRevision(context, id, revision)
    const role = { ...changeableRole(context, id, by), ...fields }
    if (fields.pins !== undefined && role.madeBy === "agent") refusePins(role)
    refuseTakenName(context, role)
    return { body: withoutSource(role), name: role.name }
  })
  announce(context, role, "updated")
  return hint === undefined ? { role } : { role, hint }
}

/** Agents with a deleted role can do nothing. */
export async function deleteRole(
  context: OrganisationContext,
  idOrName: string,
  by: ChangedBy,
  revision?: string,
): Promise<Role> {
  await context.documents.refresh()
  actingAgent(context, by)
  const { id } = changeableRole(context, idOrName, by)
  const role = await writeDocument<Role>(context, { kind: "role", id }, by, () => {
    refuseOldRevision(context, id, revision)
    const role = withoutSource(changeableRole(context, id, by))
    return { body: { ...role, status: "deleted" }, name: role.name, live: false }
  })
  announce(context, role, "deleted")
  return role
}

/** Changes with every change of a role; what is not in the store has one that never changes. */
export function roleRevision({ documents }: Pick<OrganisationContext, "documents">, id: string): string {
  return String(documents.get("role", id)?.change ?? 0)
}

function refuseOldRevision(context: OrganisationContext, id: string, revision: string | undefined): void {
  if (revision === undefined || revision === roleRevision(context, id)) return
  throw new OrganisationError("changed_meanwhile", "The role changed since you read it. Read it again, then change it.")
}

/** The live role, if this actor may change it. */
export function changeableRole({ roster }: OrganisationContext, idOrName: string, by: ChangedBy): Sourced<Role> {
  const role = roster.findRole(idOrName)
  if (role === undefined) {
    throw new OrganisationError(
      "role_not_found",
      `There is no role '${idOrName}'. List the roles to see which there are.`,
    )
  }
  if (role.source === sources.builtIn) {
    throw new OrganisationError(
      "cannot_modify_system_role",
      `Role '${role.name}' is built in and cannot be changed. Create a role of your own.`,
    )
  }
  refuseConfigured(role, `Role '${role.name}'`, "org.roles")
  if (by.kind === "agent" && (role.madeBy !== "agent" || role.createdBy !== by.id)) {
    throw new OrganisationError("not_child_role", `You did not create role '${role.name}', so you cannot change it.`)
  }
  return role
}

function existingRole(existing: Sourced<Role>, name: string): Role {
  if (existing.name === name) return withoutSource(existing)
  const sentence = `'${name}' is the id of role '${existing.name}'. Choose another name.`
  throw new OrganisationError("name_taken", sentence)
}

export function refuseTakenName({ roster }: OrganisationContext, { id, name }: Role): void {
  const other = roster.findRole(name)
  if (other === undefined || other.id === id) return
  throw new OrganisationError("name_taken", `There is another role '${name}'. Choose another name.`)
}

function refusePins({ name, createdBy }: Role): never {
  throw new OrganisationError(
    "pins_not_allowed",
    `Role '${name}' was created by agent '${createdBy}', so it cannot have pins. Create a role of your own.`,
  )
}

function withoutSource(role: Sourced<Role>): Role {
  const { source: _, ...rest } = role
  return rest
}

function announce({ emit, now }: OrganisationContext, { id }: Role, change: Change): void {
  emit({ type: "ROLE_CHANGED", at: now(), role: id, change })
}
