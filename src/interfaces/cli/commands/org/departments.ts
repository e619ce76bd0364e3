import { Option } from "commander"
import type { CliCommand } from "../../common/cli-command.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { requireDepartment } from "../../common/known-names.ts"
import { showList } from "../../common/listing.ts"
import { printResult } from "../../common/output.ts"
import { withApp, withPerson } from "../../common/open-app.ts"
import { listCommand, newIdFrom } from "../../common/usage.ts"

export function addDepartments(program: CliCommand, run: Run): void {
  const departments = program
    .command("departments")

    .description("list, create, rename and delete departments")
  listCommand(departments, "the departments").example("qm departments list").allowInTool().action(run(listDepartments))
  departments
    .command("create [id]")
    .example("qm departments create eng --name Engineering")
    .description("create a department")
    .addOption(new Option("--id <id>").hideHelp())
    .option("--name <name>", "name (default: the id)")
    .action(run(createDepartment))
  departments
    .command("rename <id>")
    .example("qm departments rename eng --name Development")
    .description("rename a department; its id stays the same")
    .requiredOption("--name <name>", "new name")
    .action(run(renameDepartment))
  departments
    .command("delete <id>")
    .example("qm departments delete eng")
    .description("delete a department")
    .action(run(deleteDepartment))
}

function listDepartments(context: CliContext): Promise<number> {
  return withApp(context, { readOnly: true }, async ({ org }) => {
    await showList(
      context,
      org.listDepartments(),
      [
        { title: "ID", of: ({ id }) => id, paint: "bold" },
        { title: "NAME", of: ({ name }) => name },
        { title: "SOURCE", of: ({ source }) => source, paint: "dim" },
      ],
      "There is no department yet. Until one is created, roles and agents may use any department name.",
    )
    return 0
  })
}

function createDepartment(
  context: CliContext,
  given: string | undefined,
  flags: { id?: string; name?: string },
): Promise<number> {
  const { name } = flags
  const id = newIdFrom(given, flags, "department")
  return withPerson(context, async ({ org }, by) => {
    const department = await org.createDepartment({ id, name }, by)
    printResult(context, department, `Created department ${department.id}.`)
    return 0
  })
}

function renameDepartment(context: CliContext, id: string, { name }: { name: string }): Promise<number> {
  return withPerson(context, async (app, by) => {
    requireDepartment(app, id)
    const department = await app.org.renameDepartment(id, name, by)
    printResult(context, department, `Department ${department.id} is now called ${department.name}.`)
    return 0
  })
}

function deleteDepartment(context: CliContext, id: string): Promise<number> {
  return withPerson(context, async (app, by) => {
    requireDepartment(app, id)
    const department = await app.org.deleteDepartment(id, by)
    printResult(context, department, `Deleted department ${department.id}.`)
    return 0
  })
}
