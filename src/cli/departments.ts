import type { Command } from "commander"
import type { Run, Session } from "./house.ts"
import { showList } from "./listing.ts"
import { answer } from "./output.ts"
import { withApp, withPerson } from "./session.ts"
import { listCommand } from "./usage.ts"

export function addDepartments(program: Command, run: Run): void {
  const departments = program.command("departments").description("the departments of roles and agents")
  listCommand(departments).action(run(listDepartments))
  departments
    .command("create")
    .description("make a department")
    .requiredOption("--id <id>", "its id")
    .option("--name <name>", "what people call it; the id when left out")
    .action(run(createDepartment))
  departments
    .command("rename <id>")
    .description("call it something else; its id stays")
    .requiredOption("--name <name>", "what people call it from now on")
    .action(run(renameDepartment))
  departments.command("delete <id>").description("delete a department").action(run(deleteDepartment))
}

function listDepartments(session: Session): Promise<number> {
  return withApp(session, {}, async ({ org }) => {
    await showList(
      session,
      org.listDepartments(),
      [
        { title: "ID", of: ({ id }) => id, paint: "bold" },
        { title: "NAME", of: ({ name }) => name },
        { title: "SOURCE", of: ({ source }) => source, paint: "dim" },
      ],
      "There is no department. Roles and agents may name any as long as none is listed.",
    )
    return 0
  })
}

function createDepartment(session: Session, { id, name }: { id: string; name?: string }): Promise<number> {
  return withPerson(session, async ({ org }, by) => {
    const department = await org.createDepartment({ id, name }, by)
    answer(session, department, `Created department ${department.id}.`)
    return 0
  })
}

function renameDepartment(session: Session, id: string, { name }: { name: string }): Promise<number> {
  return withPerson(session, async ({ org }, by) => {
    const department = await org.renameDepartment(id, name, by)
    answer(session, department, `Department ${department.id} is called ${department.name} now.`)
    return 0
  })
}

function deleteDepartment(session: Session, id: string): Promise<number> {
  return withPerson(session, async ({ org }, by) => {
    const department = await org.deleteDepartment(id, by)
    answer(session, department, `Deleted department ${department.id}.`)
    return 0
  })
}
