import type { Department } from "../model/organisation.ts"
import { OrganisationError, type Actor, type Sourced } from "../model/organisation-book.ts"
import { refuseAgents, refuseBadId, refuseBadName, refuseConfigured } from "./checks.ts"
import { keep, type Office } from "./office.ts"

export async function createDepartment(
  office: Office,
  { id, name = id }: { id: string; name?: string | undefined },
  by: Actor,
): Promise<Department> {
  refuseAgents(by, "create departments")
  await office.documents.refresh()
  refuseBadId(id, "department")
  refuseBadName(name, "invalid_department_name")
  return keep<Department>(office, { kind: "department", id }, by, () => {
    if (office.roster.department(id) !== undefined) {
      throw new OrganisationError("department_exists", `There is a department '${id}' already. Choose another id.`)
    }
    const createdAt = new Date(office.now()).toISOString()
    return { body: { id, name, status: "active", createdBy: by.id, madeBy: by.kind, createdAt } }
  })
}

export async function renameDepartment(office: Office, id: string, name: string, by: Actor): Promise<Department> {
  refuseAgents(by, "rename departments")
  await office.documents.refresh()
  refuseBadName(name, "invalid_department_name")
  return keep<Department>(office, { kind: "department", id }, by, () => ({ body: { ...changeable(office, id), name } }))
}

/** Only one that no live role and no live agent names. */
export async function deleteDepartment(office: Office, id: string, by: Actor): Promise<Department> {
  refuseAgents(by, "delete departments")
  await office.documents.refresh()
  return keep<Department>(office, { kind: "department", id }, by, () => {
    const department = changeable(office, id)
    refuseUsed(office, id)
    return { body: { ...department, status: "deleted" }, live: false }
  })
}

function changeable({ roster }: Office, id: string): Department {
  const found = roster.department(id)
  if (found === undefined) {
    const sentence = `There is no department '${id}'. List the departments to see which there are.`
    throw new OrganisationError("department_not_found", sentence)
  }
  refuseConfigured(found, `Department '${id}'`, "org.departments")
  const { source: _, ...department }: Sourced<Department> = found
  return department
}

function refuseUsed({ roster }: Office, id: string): void {
  const named = <T extends { status: string; department?: string | undefined }>(all: T[]) =>
    all.filter(({ status, department }) => status === "active" && department === id)
  const users = [
    ...named(roster.roles()).map(({ name }) => `role '${name}'`),
    ...named(roster.agents()).map((agent) => `agent '${agent.id}'`),
  ]
  if (users.length === 0) return
  const some = users.slice(0, 5).join(", ") + (users.length > 5 ? " and others" : "")
  throw new OrganisationError("department_in_use", `Department '${id}' is used by ${some}. Change them first.`)
}
