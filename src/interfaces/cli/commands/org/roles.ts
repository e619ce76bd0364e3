import type { CliCommand } from "../../common/cli-command.ts"
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { Role } from "../../../../core/organisation.ts"
import type { NewRole, Sourced } from "../../../../org/organisation-admin.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { requireRole } from "../../common/known-names.ts"
import { createdFields, showFields, showList } from "../../common/listing.ts"
import { printResult, printMessage } from "../../common/output.ts"
import { withApp, withPerson } from "../../common/open-app.ts"
import { commaList, listCommand, noSuch, numberFlag, repeated, UsageError } from "../../common/usage.ts"

interface RoleFlags {
  name?: string
  groups?: string
  department?: string
  level?: string
  dialect?: string
  prompt?: string
  pin?: string[]
  model?: string
}

export function addRoles(program: CliCommand, run: Run): void {
  const roles = program
    .command("roles")

    .description("list and manage roles and their tool groups")
  listCommand(roles, "the roles")
    .example("qm roles list --all")
    .allowInTool()
    .option("--all", "also show deleted roles")
    .action(run(listRoles))
  roles
    .command("show <role>")
    .example("qm roles show developer")
    .allowInTool()
    .description("show one role, by name or id")
    .action(run(showRole))
  const create = roles
    .command("create")
    .example("qm roles create --name developer --groups workspace,command --level 2")
    .description("create a role; an existing role of that name is not changed")
  described(create.requiredOption("--name <name>", "name")).action(run(createRole))
  const update = roles
    .command("update <role>")
    .example("qm roles update developer --groups workspace")
    .description("change only the given fields")
  described(update.option("--name <name>", "new name")).action(run(updateRole))
  roles
    .command("delete <role>")
    .example("qm roles delete developer")
    .description("delete a role; its agents lose all tools")
    .action(run(deleteRole))
}

function described(command: CliCommand): CliCommand {
  return command
    .option("--groups <a,b>", 'tool groups; all for every group, "" for none')
    .option("--department <id>", 'department of its agents; "" for none')
    .option("--level <number>", "level of its agents")
    .option("--dialect <name>", "tool names its model knows: native, claude or classic")
    .option("--prompt <text>", "role description for the model; @file reads it from a file")
    .option("--pin <tool=version>", "a pin: always use this version of a tool; can be repeated", repeated)
    .option("--model <id>", "id of the model service")
}

function listRoles(context: CliContext, { all }: { all?: boolean }): Promise<number> {
  return withApp(context, { readOnly: true }, async ({ org }) => {
    const roles = org.listRoles().filter(({ status }) => all === true || status === "active")
    await showList(
      context,
      roles,
      [
        {
          title: "NAME",
          of: (role) => (role.status === "active" ? role.name : `${role.name} (deleted)`),
          paint: "bold",
        },
        { title: "GROUPS", of: groupsText },
        { title: "DEPARTMENT", of: ({ department }) => department },
        { title: "LEVEL", of: ({ level }) => level },
        { title: "SOURCE", of: ({ source }) => source, paint: "dim" },
      ],
      "There is no role yet. 'qm roles create --name <name>' creates one.",
    )
    return 0
  })
}

function showRole(context: CliContext, name: string): Promise<number> {
  return withApp(context, { readOnly: true }, async ({ org }) => {
    const role = org.findRole(name)
    if (role === undefined) {
      throw noSuch(
        "role",
        name,
        org.listRoles().map((each) => each.name),
      )
    }
    const pins = Object.entries(role.pins ?? {}).map(([tool, version]) => `${tool}=${version}`)
    showFields(context, role, [
      ["name", role.name],
      ["id", role.id],
      ["groups", groupsText(role)],
      ["department", role.department],
      ["level", role.level],
      ["dialect", role.dialect],
      ["pins", pins.join(", ")],
      ["model", role.llmServiceId ?? undefined],
      ["status", role.status],
      ["source", role.source],
      ...createdFields(role),
      ["prompt", role.rolePrompt],
    ])
    return 0
  })
}

async function createRole(context: CliContext, flags: RoleFlags): Promise<number> {
  const given = { ...(await fieldsOf(context, flags)), name: flags.name ?? "" }
  return withPerson(context, async ({ org }, by) => {
    const { role, created, hint } = await org.createRole(given, by)
    if (hint !== undefined) printMessage(context, hint)
    if (created) noteUnknownDepartment(context, org, role.department)
    const sentence = created
      ? `Created role ${role.name} with ${role.toolGroups?.length === 0 ? "no" : groupsText(role)} groups.`
      : `Role ${role.name} already exists and was not changed. 'qm roles update' changes it.`
    printResult(context, { role, created, hint }, sentence)
    return 0
  })
}

async function updateRole(context: CliContext, name: string, flags: RoleFlags): Promise<number> {
  const change = await fieldsOf(context, flags)
  if (Object.keys(change).length === 0) {
    throw new UsageError("Nothing to change. 'qm roles update --help' shows the fields.")
  }
  return withPerson(context, async (app, by) => {
    requireRole(app, name)
    const { role, hint } = await app.org.updateRole(name, change, by)
    if (hint !== undefined) printMessage(context, hint)
    printResult(context, { role, hint }, `Changed role ${role.name}.`)
    return 0
  })
}

function deleteRole(context: CliContext, name: string): Promise<number> {
  return withPerson(context, async (app, by) => {
    const { org } = app
    requireRole(app, name)
    const role = await org.deleteRole(name, by)
    const left = holdersOf(org, role).map(({ id }) => id)
    if (left.length > 0)
      printMessage(context, `These agents had this role and can use no tools now: ${left.join(", ")}.`)
    printResult(context, role, `Deleted role ${role.name}.`)
    return 0
  })
}

/** While no department exists, any name is taken, so a name with a typing error is said. */
function noteUnknownDepartment(context: CliContext, org: Quartermaster["org"], department: string | undefined): void {
  if (department === undefined || org.listDepartments().length > 0) return
  printMessage(
    context,
    `There is no department yet, so '${department}' is taken as written. 'qm departments create ${department}' creates it; from then on unknown ones are refused.`,
  )
}

/** Only the given fields, so that an update leaves the others unchanged. */
async function fieldsOf({ io }: CliContext, flags: RoleFlags): Promise<Partial<NewRole>> {
  const { name, groups, department, level, dialect, prompt, pin, model } = flags
  return {
    ...(name === undefined ? {} : { name }),
    ...(groups === undefined ? {} : { toolGroups: groups === "all" ? null : commaList(groups) }),
    ...(department === undefined ? {} : { department }),
    ...(level === undefined ? {} : { level: numberFlag("--level", level) }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(prompt === undefined ? {} : { rolePrompt: await textOrFile(prompt, io.cwd) }),
    ...(pin === undefined ? {} : { pins: readPins(pin) }),
    ...(model === undefined ? {} : { llmServiceId: model === "" ? null : model }),
  }
}

/** The text itself, or for `@path` the content of the file. */
async function textOrFile(text: string, cwd: string): Promise<string> {
  if (!text.startsWith("@")) return text
  try {
    return await readFile(resolve(cwd, text.slice(1)), "utf8")
  } catch (error) {
    throw new UsageError(`--prompt names a file that cannot be read: ${(error as Error).message}.`)
  }
}

function readPins(given: readonly string[]): Record<string, string> {
  const pairs = given.map((text): [string, string] => {
    const at = text.indexOf("=")
    if (at < 1 || at === text.length - 1)
      throw new UsageError(`--pin takes tool=version, for example --pin sleep=1.0.0, and '${text}' is not that.`)
    return [text.slice(0, at), text.slice(at + 1)]
  })
  return Object.fromEntries(pairs)
}

function groupsText({ toolGroups }: Role): string {
  if (toolGroups === null) return "all"
  return toolGroups.length === 0 ? "none" : toolGroups.join(", ")
}

function holdersOf(org: Quartermaster["org"], role: Role): readonly Sourced<{ id: string }>[] {
  return org.listAgents().filter(({ roleId }) => roleId === role.id)
}
