import type { Department } from "../core/organisation.ts"
import { OrganisationError, type ChangedBy, type Sourced } from "./organisation-admin.ts"
import { requirePerson, refuseBadId, refuseBadName, refuseConfigured } from "./validation.ts"
import { writeDocument, type OrganisationContext } from "./write-document.ts"

export async function createDepartment(
  context: OrganisationContext,
  { id, name = id }: { id: string; name?: string },
  by: ChangedBy,
): Promise<Department> {
  requirePerson(by, "create departments")
  await context.documents.refresh()
  refuseBadId(id, "department")
  refuseBadName(name, "invalid_department_name")
  return writeDocument<Department>(context, { kind: "department", id }, by, () => {
    if (context.roster.department(id) !== undefined) {
      throw new OrganisationError("department_exists", `There is a department '${id}' already. Choose another id.`)
    }
    const createdAt = new Date(context.now()).toISOString()
    return { body: { id, name, status: "active", createdBy: by.id, madeBy: by.kind, createdAt } }
  })
}

export async function renameDepartment(
  context: OrganisationContext,
  id: string,
  name: string,
  by: ChangedBy,
): Promise<Department> {
  requirePerson(by, "rename departments")
  await context.documents.refresh()
  refuseBadName(name, "invalid_department_name")
  return writeDocument<Department>(context, { kind: "department", id }, by, () => ({
    body: { ...changeable(context, id), name },
  }))
}

/** Refuses a department that a live role or a live agent is in. */
export async function deleteDepartment(context: OrganisationContext, id: string, by: ChangedBy): Promise<Department> {
  requirePerson(by, "delete departments")
  await context.documents.refresh()
  return writeDocument<Department>(context, { kind: "department", id }, by, () => {
    const department = changeable(context, id)
    refuseUsed(context, id)
    return { body: { ...department, status: "deleted" }, live: false }
  })
}

function changeable({ roster }: OrganisationContext, id: string): Department {
  const found = roster.department(id)
  if (found === undefined) {
    const sentence = `There is no department '${id}'. List the departments to see which there are.`
    throw new OrganisationError("department_not_found", sentence)
  }
  refuseConfigured(found, `Department '${id}'`, "org.departments")
  const { source: _, ...department }: Sourced<Department> = found
  return department
}

function refuseUsed({ roster }: OrganisationContext, id: string): void {
  const inDepartment = <T extends { status: string; department?: string }>(all: T[]) =>
    all.filter(({ status, department }) => status === "active" && department === id)
  const users = [
    ...inDepartment(roster.roles()).map(({ name }) => `role '${name}'`),
    ...inDepartment(roster.agents()).map((agent) => `agent '${agent.id}'`),
  ]
  if (users.length === 0) return
  const some = users.slice(0, 5).join(", ") + (users.length > 5 ? " and others" : "")
  throw new OrganisationError("department_in_use", `Department '${id}' is used by ${some}. Change them first.`)
}
