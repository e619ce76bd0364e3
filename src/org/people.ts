import { newPersonToken } from "../lib/person-token.ts"
import type { Person } from "../core/organisation.ts"
import { OrganisationError, type ChangedBy, type NewPerson, type Sourced } from "./organisation-admin.ts"
import { defaultTokenLifetimeMs, refuseBadLifetime } from "./token-lifetime.ts"
import { requirePerson, refuseBadId, refuseBadName, refuseConfigured } from "./validation.ts"
import { writeDocument, type OrganisationContext } from "./write-document.ts"

/** A person as other folders see them: `hasToken` instead of the hash of the token. */
export function withoutTokenHash<T extends Person>(person: T): Omit<T, "tokenHash"> & { hasToken: boolean } {
  const { tokenHash, ...rest } = person
  return { ...rest, hasToken: tokenHash !== undefined }
}

export async function createPerson(
  context: OrganisationContext,
  { id, name = id, roles = [], lifetimeMs }: NewPerson,
  by: ChangedBy,
): Promise<{ person: Person; token: string }> {
  requirePerson(by, "add people")
  await context.documents.refresh()
  refuseBadId(id, "person")
  refuseBadName(name, "invalid_person_name")
  refuseBadRoles(roles)
  const { token, ...proof } = newToken(context, lifetimeMs)
  const person = await writeDocument<Person>(context, { kind: "person", id }, by, () => {
    if (context.roster.person(id) !== undefined || context.roster.agent(id) !== undefined) {
      throw new OrganisationError("person_exists", `The id '${id}' belongs to a person or an agent. Choose another id.`)
    }
    const createdAt = new Date(context.now()).toISOString()
    return { body: { id, name, roles, status: "active", ...proof, createdBy: by.id, madeBy: by.kind, createdAt } }
  })
  return { person: withoutTokenHash(person), token }
}

export async function updatePerson(
  context: OrganisationContext,
  id: string,
  { name, roles }: Pick<NewPerson, "name" | "roles">,
  by: ChangedBy,
): Promise<Person> {
  requirePerson(by, "change people")
  await context.documents.refresh()
  if (name !== undefined) refuseBadName(name, "invalid_person_name")
  if (roles !== undefined) refuseBadRoles(roles)
  const change = { ...(name === undefined ? {} : { name }), ...(roles === undefined ? {} : { roles }) }
  const person = await writeDocument<Person>(context, { kind: "person", id }, by, () => ({
    body: { ...changeable(context, id), ...change },
  }))
  return withoutTokenHash(person)
}

/** The person's token stops working. */
export async function deletePerson(context: OrganisationContext, id: string, by: ChangedBy): Promise<Person> {
  requirePerson(by, "remove people")
  await context.documents.refresh()
  const person = await writeDocument<Person>(context, { kind: "person", id }, by, () => {
    return { body: { ...withoutToken(changeable(context, id)), status: "deleted" }, live: false }
  })
  return withoutTokenHash(person)
}

/** Gives a person another token; the one before stops working. */
export async function renewPersonToken(
  context: OrganisationContext,
  id: string,
  { lifetimeMs }: Pick<NewPerson, "lifetimeMs">,
  by: ChangedBy,
): Promise<{ person: Person; token: string }> {
  requirePerson(by, "make tokens of people")
  await context.documents.refresh()
  const { token, ...proof } = newToken(context, lifetimeMs)
  const person = await writeDocument<Person>(context, { kind: "person", id }, by, () => ({
    body: { ...withoutToken(changeable(context, id)), ...proof },
  }))
  return { person: withoutTokenHash(person), token }
}

export async function revokePersonToken(context: OrganisationContext, id: string, by: ChangedBy): Promise<Person> {
  requirePerson(by, "revoke tokens of people")
  await context.documents.refresh()
  const person = await writeDocument<Person>(context, { kind: "person", id }, by, () => ({
    body: withoutToken(changeable(context, id)),
  }))
  return withoutTokenHash(person)
}

/** A token that works for 90 days, or as long as is said; null is for ever. */
function newToken({ now }: OrganisationContext, lifetimeMs: number | null = defaultTokenLifetimeMs) {
  refuseBadLifetime(lifetimeMs)
  return { ...newPersonToken(), ...(lifetimeMs === null ? {} : { tokenExpiresAt: now() + lifetimeMs }) }
}

function withoutToken({ tokenHash: _hash, tokenExpiresAt: _expiresAt, ...person }: Person): Person {
  return person
}

function changeable({ roster }: OrganisationContext, id: string): Person {
  const found = roster.person(id)
  if (found === undefined) {
    throw new OrganisationError("person_not_found", `There is no person '${id}'. List the people to see who there is.`)
  }
  refuseConfigured(found, `Person '${id}'`, "org.people")
  const { source: _, ...person }: Sourced<Person> = found
  return person
}

function refuseBadRoles(roles: readonly string[]): void {
  for (const role of roles) refuseBadName(role, "invalid_role_name")
}
