import type { Person } from "../model/organisation.ts"
import { OrganisationError, type Actor, type NewPerson, type Sourced } from "../model/organisation-book.ts"
import { refuseAgents, refuseBadId, refuseBadName, refuseConfigured } from "./checks.ts"
import { keep, type Office } from "./office.ts"
import { newToken } from "./tokens.ts"

/** A person as they leave this folder: without what proves who they are, and with whether something does. */
export function withoutHash<T extends Person>(person: T): Omit<T, "tokenHash"> & { hasToken: boolean } {
  const { tokenHash, ...rest } = person
  return { ...rest, hasToken: tokenHash !== undefined }
}

export async function createPerson(
  office: Office,
  { id, name = id, roles = [] }: NewPerson,
  by: Actor,
): Promise<{ person: Person; token: string }> {
  refuseAgents(by, "add people")
  await office.documents.refresh()
  refuseBadId(id, "person")
  refuseBadName(name, "invalid_person_name")
  refuseBadRoles(roles)
  const { token, tokenHash } = newToken()
  const person = await keep<Person>(office, { kind: "person", id }, by, () => {
    if (office.roster.person(id) !== undefined || office.roster.agent(id) !== undefined) {
      throw new OrganisationError("person_exists", `The id '${id}' belongs to a person or an agent. Choose another id.`)
    }
    const createdAt = new Date(office.now()).toISOString()
    return { body: { id, name, roles, status: "active", tokenHash, createdBy: by.id, madeBy: by.kind, createdAt } }
  })
  return { person: withoutHash(person), token }
}

export async function updatePerson(
  office: Office,
  id: string,
  { name, roles }: Partial<Omit<NewPerson, "id">>,
  by: Actor,
): Promise<Person> {
  refuseAgents(by, "change people")
  await office.documents.refresh()
  if (name !== undefined) refuseBadName(name, "invalid_person_name")
  if (roles !== undefined) refuseBadRoles(roles)
  const change = { ...(name === undefined ? {} : { name }), ...(roles === undefined ? {} : { roles }) }
  const person = await keep<Person>(office, { kind: "person", id }, by, () => ({
    body: { ...changeable(office, id), ...change },
  }))
  return withoutHash(person)
}

/** The token proves nothing from then on. */
export async function deletePerson(office: Office, id: string, by: Actor): Promise<Person> {
  refuseAgents(by, "remove people")
  await office.documents.refresh()
  const person = await keep<Person>(office, { kind: "person", id }, by, () => {
    const { tokenHash: _, ...rest } = changeable(office, id)
    return { body: { ...rest, status: "deleted" }, live: false }
  })
  return withoutHash(person)
}

function changeable({ roster }: Office, id: string): Person {
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
